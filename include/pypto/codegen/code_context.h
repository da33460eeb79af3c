// Names of variables in generated code.
#ifndef PYPTO_CODEGEN_CODE_CONTEXT_H
#define PYPTO_CODEGEN_CODE_CONTEXT_H

#include "pypto/ir/expr.h"

#include <unordered_map>

namespace pypto::codegen {

/// Names by variable, which is an object, not a name; pointers by the name of the tensor that wraps them.
class CodeContext {
public:
  /// The variable's name as an identifier of C++. Two variables may get one; RegisterVar decides.
  std::string SanitizeName(const ir::VarPtr &var) const;
  /// The registered name. ValueError for a variable without one.
  std::string GetVarName(const ir::VarPtr &var) const;
  /// ValueError when the variable has a name already.
  void RegisterVar(const ir::VarPtr &var, const std::string &cpp_name);
  /// The raw pointer behind a tensor; the last registered one holds.
  void RegisterPointer(const std::string &tensor_var_name, const std::string &ptr_name);
  /// ValueError for a tensor without one.
  std::string GetPointer(const std::string &tensor_var_name) const;
  void Clear();

private:
  std::unordered_map<const ir::Var *, std::string> names_;
  std::unordered_map<std::string, std::string> pointers_;
};

} // namespace pypto::codegen

#endif // PYPTO_CODEGEN_CODE_CONTEXT_H
