// Lines of code with their indentation.
#ifndef PYPTO_CODEGEN_CODE_EMITTER_H
#define PYPTO_CODEGEN_CODE_EMITTER_H

#include <string>

namespace pypto::codegen {

class CodeEmitter {
public:
  /// One line, four spaces per level before it; an empty line stays empty.
  void EmitLine(const std::string &line);
  /// Text as it is.
  void EmitBlock(const std::string &code) { code_ += code; }
  void IncreaseIndent() { ++level_; }
  /// ValueError at level 0.
  void DecreaseIndent();
  /// Everything so far.
  std::string GetCode() const { return code_; }
  /// Forgets text and indentation.
  void Clear();

private:
  std::string code_;
  int level_ = 0;
};

} // namespace pypto::codegen

#endif // PYPTO_CODEGEN_CODE_EMITTER_H
