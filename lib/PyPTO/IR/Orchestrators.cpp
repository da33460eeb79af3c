// An undecided function that holds kernels, or calls them, is an orchestrator.
#include "pypto/ir/orchestrators.h"

#include "pypto/ir/transforms/base/visitor.h"

#include <algorithm>

namespace pypto::ir {
namespace {

class Submits : public IRVisitor {
public:
  bool found = false;

protected:
  void VisitExpr_(const CallPtr &op) override {
    found |= IsA<GlobalVar>(op->op_);
    IRVisitor::VisitExpr_(op);
  }
  void VisitExpr_(const SubmitPtr &) override { found = true; }
  void VisitScopeStmt_(const ScopeStmtPtr &) override { found = true; }
};

bool isHostOrchestrator(const Function &function) {
  return IsHostLevel(function) && function.role_ == Role::Orchestrator;
}

bool submits(const Function &function) {
  if (function.role_ == Role::SubWorker)
    return false;
  if (function.func_type_ != FunctionType::Opaque || !function.body_)
    return false;
  Submits submits;
  submits.VisitStmt(function.body_);
  return submits.found;
}

} // namespace

ProgramPtr WithOrchestrators(const ProgramPtr &program) {
  auto isMarked = [](const FunctionPtr &each) { return each->func_type_ == FunctionType::Orchestration; };
  auto submitsSome = [](const FunctionPtr &each) { return submits(*each); };
  bool someMarked = std::ranges::any_of(program->functions_, isMarked);
  // Beside orchestrators of devices, one of the host level is one without a mark.
  auto becomes = [&](const FunctionPtr &each) {
    return someMarked ? isHostOrchestrator(*each) && !isMarked(each) : submitsSome(each);
  };
  if (std::ranges::none_of(program->functions_, becomes))
    return program;
  std::vector<FunctionPtr> functions;
  for (const FunctionPtr &each : program->functions_) {
    if (!becomes(each)) {
      functions.push_back(each);
      continue;
    }
    Function marked = *each;
    marked.func_type_ = FunctionType::Orchestration;
    functions.push_back(std::make_shared<const Function>(std::move(marked)));
  }
  return std::make_shared<const Program>(std::move(functions), program->name_, program->span_);
}

} // namespace pypto::ir
