// A function: a kernel, an orchestrator, or a helper.
#ifndef PYPTO_IR_FUNCTION_H
#define PYPTO_IR_FUNCTION_H

#include "pypto/ir/stmt.h"

namespace pypto::ir {

class Function final : public IRNode {
public:
  std::string name_;
  std::vector<VarPtr> params_;
  std::vector<TypePtr> return_types_;
  StmtPtr body_;
  FunctionType func_type_ = FunctionType::Opaque;
  std::vector<ParamDirection> param_directions_; ///< one per parameter
  std::optional<Level> level_;
  std::optional<Role> role_;
  Attrs attrs_;
  bool requires_runtime_binding_ = false; ///< a SubWorker without a body

  Function(std::string name, std::vector<VarPtr> params, std::vector<TypePtr> return_types, StmtPtr body, Span span,
           FunctionType func_type = FunctionType::Opaque, std::vector<ParamDirection> param_directions = {});

  template <class F> static void Fields(F &&f) {
    f("name", &Function::name_, kNote); // calls name functions, so programs compare it
    f("params", &Function::params_, kDef);
    f("return_types", &Function::return_types_, kPlain);
    f("body", &Function::body_, kPlain);
    f("func_type", &Function::func_type_, kOptional);
    f("param_directions", &Function::param_directions_, kOptional);
    f("level", &Function::level_, kOptional);
    f("role", &Function::role_, kOptional);
    f("attrs", &Function::attrs_, kOptional);
    f("requires_runtime_binding", &Function::requires_runtime_binding_, kOptional);
  }
  PYPTO_NODE(Function, IRNode)
  void Finish();
};

/// Whether it runs on the host, above the devices.
inline bool IsHostLevel(const Function &function) { return function.level_ == Level::HOST; }

} // namespace pypto::ir

#endif // PYPTO_IR_FUNCTION_H
