// Calls of operations in stored programs, whose operands nobody has checked.
#include "TensorsToTiles.h"

#include "Types.h"

#include "pypto/ir/op_registry.h"
#include "pypto/ir/transforms/base/visitor.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

class CallVerifier : public ir::IRVisitor {
protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    ir::IRVisitor::VisitExpr_(op);
    ir::OpView view(*op);
    if (!view.row())
      return;
    ir::Attrs arguments;
    for (const ir::OpParam &param : view.row()->params)
      if (ir::ExprPtr operand = param.operand ? view.Operand(param.name) : nullptr)
        arguments.emplace_back(std::string(param.name), operand);
    arguments.insert(arguments.end(), op->kwargs_.begin(), op->kwargs_.end());
    withPlace(op->span_, [&] {
      ir::CallPtr made = ir::CreateOp(view.row()->name, std::move(arguments), op->span_);
      CHECK(made->type_->kind() == op->type_->kind()) << op->op_->name_ << " has a result of another kind";
    });
  }
};

} // namespace

void verifyCalls(const ir::ProgramPtr &program) { CallVerifier().VisitProgram(program); }

} // namespace pto_mlir::pypto_frontend
