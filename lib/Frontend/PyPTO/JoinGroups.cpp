// Functions of both kinds of core that meet by events, as sections of one kernel.
#include "JoinGroups.h"

#include "Groups.h"

#include "pto_mlir/Target/PTOText/PTOText.h"
#include "pypto/ir/transforms/base/visitor.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

/// Names of the functions that a body calls.
class Callees : public ir::IRVisitor {
public:
  std::vector<std::string> names;

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    if (ir::IsA<ir::GlobalVar>(op->op_))
      names.push_back(op->op_->name_);
    ir::IRVisitor::VisitExpr_(op);
  }
};

void joinFunctions(ModuleOp module, StringRef cube, StringRef vector) {
  ptotext::Kernel kernel{module.lookupSymbol<func::FuncOp>(cube), module.lookupSymbol<func::FuncOp>(vector)};
  OpBuilder b(kernel.main);
  ptotext::joinParts(b, kernel, /*takesSemaphores=*/!pto::targetOf(module).laneFlags);
  kernel.main.erase();
  kernel.vectorPart.erase();
}

bool meetByEvents(const ir::Function &function) { return queueSpaceOf(function).words == 0 && hasEvents(function); }

} // namespace

void joinGroups(ModuleOp module, const ir::Program &program) {
  for (const ir::FunctionPtr &group : program.functions_) {
    if (group->func_type_ != ir::FunctionType::Group)
      continue;
    Callees callees;
    callees.VisitStmt(group->body_);
    ir::FunctionPtr cube, vector;
    for (const std::string &name : callees.names)
      if (ir::FunctionPtr function = program.GetFunction(name))
        (function->func_type_ == ir::FunctionType::AIC ? cube : vector) = function;
    if (!cube || !vector || callees.names.size() != 2 || !(meetByEvents(*cube) || meetByEvents(*vector)))
      continue;
    (void)joinFunctions(cube, vector, 0); // throws where their parameters differ
    joinFunctions(module, cube->name_, vector->name_);
  }
}

void joinPlanned(ModuleOp module, const PlannedKernel &kernel) {
  if (kernel.function->func_type_ != ir::FunctionType::AIC || kernel.peers.size() != 2 ||
      queueSpaceOf(*kernel.function).words != 0)
    return;
  for (const auto &[function, peer] : kernel.peers)
    if (peer != kernel.name)
      joinFunctions(module, kernel.name, peer);
}

} // namespace pto_mlir::pypto_frontend
