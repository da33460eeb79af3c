//===- ControlFlow.cpp - scf -> loop, end, skip_if_zero -------------------===//

#include "Models.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

constexpr int64_t kSkipWords = 3; // of a skip_if_zero

struct ForModel : CodegenOpInterface::ExternalModel<ForModel, scf::ForOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto loop = cast<scf::ForOp>(op);
    if (loop.getNumResults())
      return op->emitOpError("carries values from trip to trip, command loops do not");
    isa::Loop insn;
    if (failed(cg.integer(op, loop.getLowerBound(), insn.lb)) || failed(cg.integer(op, loop.getUpperBound(), insn.ub)) ||
        failed(cg.integer(op, loop.getStep(), insn.step)))
      return failure();
    if (!insn.step.isRegister && insn.step.value <= 0)
      return op->emitOpError("has step ") << insn.step.value << ", command loops need a positive one";
    auto iv = cg.loopRegister(op);
    if (failed(iv))
      return failure();
    insn.iv = *iv;
    cg.define(loop.getInductionVar(), isa::Value::reg(*iv));
    return failure(failed(cg.emit(op, insn)) || failed(cg.generateBlock(*loop.getBody())) || failed(cg.emit(op, isa::End{})));
  }
};

LogicalResult holdBlock(CodegenContext &cg, Region &region, std::vector<CodegenContext::Held> &commands) {
  cg.beginHolding();
  LogicalResult result = region.empty() ? success() : cg.generateBlock(region.front());
  commands = cg.endHolding();
  return result;
}

int64_t wordsOf(const std::vector<CodegenContext::Held> &commands) {
  int64_t words = 0;
  for (const auto &command : commands)
    words += int64_t(command.words.size());
  return words;
}

struct IfModel : CodegenOpInterface::ExternalModel<IfModel, scf::IfOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto branch = cast<scf::IfOp>(op);
    if (branch.getNumResults())
      return op->emitOpError("has results, command streams choose values with select");
    isa::Value condition;
    if (failed(cg.integer(op, branch.getCondition(), condition)))
      return failure();
    if (!condition.isRegister) {
      Region &taken = condition.value ? branch.getThenRegion() : branch.getElseRegion();
      return taken.empty() ? success() : cg.generateBlock(taken.front());
    }
    std::vector<CodegenContext::Held> thenCommands, elseCommands;
    if (failed(holdBlock(cg, branch.getThenRegion(), thenCommands)) || failed(holdBlock(cg, branch.getElseRegion(), elseCommands)))
      return failure();
    int64_t thenWords = wordsOf(thenCommands), elseWords = wordsOf(elseCommands);
    if (thenWords == 0 && elseWords == 0)
      return success();
    if (failed(cg.emit(op, isa::SkipIfZero{condition, thenWords + (elseWords ? kSkipWords : 0)})) || failed(cg.store(thenCommands)))
      return failure();
    if (elseWords == 0)
      return success();
    return failure(failed(cg.emit(op, isa::SkipIfZero{0, elseWords})) || failed(cg.store(elseCommands)));
  }
};

} // namespace

void attachControlFlowModels(MLIRContext *c) {
  scf::ForOp::attachInterface<ForModel>(*c);
  scf::IfOp::attachInterface<IfModel>(*c);
}

} // namespace pto_mlir::backend
