// What the code of one operation may ask of the generator that it is emitted by.
#ifndef PYPTO_CODEGEN_CODEGEN_BASE_H
#define PYPTO_CODEGEN_CODEGEN_BASE_H

#include "pypto/core/dtype.h"
#include "pypto/ir/expr.h"

#include <string>

namespace pypto::codegen {

class CodegenBase {
public:
  virtual ~CodegenBase() = default;

  /// The name of what the current operation's result is written to; "" for one without a result.
  virtual std::string GetCurrentResultTarget() const = 0;
  /// One operation as a line of the generated language.
  virtual void Emit(const std::string &line) = 0;
  /// The text that stands for an expression.
  virtual std::string GetExprAsCode(const ir::ExprPtr &expr) = 0;
  /// An element type in the generated language.
  virtual std::string GetTypeString(const DataType &dtype) const = 0;
};

} // namespace pypto::codegen

#endif // PYPTO_CODEGEN_CODEGEN_BASE_H
