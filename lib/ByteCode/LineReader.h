// Reading of one line of a VM program's text: errors and types.
#ifndef PTO_MLIR_LIB_BYTECODE_LINEREADER_H
#define PTO_MLIR_LIB_BYTECODE_LINEREADER_H

#include "Lexer.h"
#include "pto_mlir/ByteCode/Module.h"

#include <algorithm>
#include <unordered_map>

namespace pto_mlir::bytecode {

/// The state that the parts of the assembler share.
struct AssemblerState {
  Module module;
  std::string failure; // the first one
  unsigned line = 0;   // of the failure
  std::unordered_map<std::string, uint32_t> functionIndex;
};

/// Base of the parts of the assembler.
class LineReader {
protected:
  explicit LineReader(AssemblerState &state)
      : module(state.module), failure(state.failure), line(state.line), functionIndex(state.functionIndex) {}

  bool fail(const std::string &message) {
    if (failure.empty()) {
      failure = message;
      // The file may be binary.
      std::replace_if(failure.begin(), failure.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    }
    return false;
  }
  bool expect(Lexer &lexer, std::string_view symbol) {
    return lexer.eat(symbol) ||
           fail("expects '" + std::string(symbol) + "' before '" + std::string(lexer.remaining().substr(0, 20)) + "'");
  }

  std::optional<Type> readType(Lexer &lexer) {
    std::string_view text = lexer.typeText();
    auto type = parseType(text);
    if (!type)
      fail("'" + std::string(text) +
           "' is not a type of a VM value (i1, i8, i16, i32, i64, f32, f64, tensor<2x?xf32>)");
    return type;
  }
  std::optional<uint32_t> readTypeIndex(Lexer &lexer) {
    auto type = readType(lexer);
    return type ? std::optional(module.addType(*type)) : std::nullopt;
  }
  bool readTypeList(Lexer &lexer, std::vector<Type> &types) {
    if (!expect(lexer, "("))
      return false;
    if (lexer.eat(")"))
      return true;
    do {
      auto type = readType(lexer);
      if (!type)
        return false;
      types.push_back(*type);
    } while (lexer.eat(","));
    return expect(lexer, ")");
  }

  template <class T> void readInteger(Lexer &lexer, T &value) {
    auto number = lexer.integer<T>();
    if (number)
      value = *number;
    else
      fail("expects a number before '" + std::string(lexer.remaining().substr(0, 20)) + "'");
  }

  Module &module;
  std::string &failure;
  unsigned &line;
  std::unordered_map<std::string, uint32_t> &functionIndex;
};

} // namespace pto_mlir::bytecode

#endif
