//===- ControlFlow.cpp - scf -> loop, end, skip_if_zero -------------------===//

#include "Carried.h"
#include "Models.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

constexpr int64_t kSkipWords = 3; // of a skip_if_zero

struct ForModel : CodegenOpInterface::ExternalModel<ForModel, scf::ForOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto loop = cast<scf::ForOp>(op);
    isa::Loop insn;
    if (failed(cg.integer(op, loop.getLowerBound(), insn.lb)) ||
        failed(cg.integer(op, loop.getUpperBound(), insn.ub)) || failed(cg.integer(op, loop.getStep(), insn.step)))
      return failure();
    if (!insn.step.isRegister && insn.step.value <= 0)
      return op->emitOpError("has step ") << insn.step.value << ", command loops need a positive one";
    auto iv = cg.loopRegister(op);
    if (failed(iv))
      return failure();
    insn.iv = *iv;
    cg.define(loop.getInductionVar(), isa::Value::reg(*iv));
    auto carried = allocateCarried(op, cg, loop.getResultTypes());
    if (failed(carried) || failed(assignCarried(op, cg, loop.getInitArgs(), *carried)) ||
        failed(defineCarried(op, cg, loop.getRegionIterArgs(), *carried)))
      return failure();
    if (failed(cg.emit(op, insn)) || failed(cg.generateBlock(*loop.getBody())) ||
        failed(assignCarried(op, cg, loop.getYieldedValues(), *carried)) || failed(cg.emit(op, isa::End{})))
      return failure();
    return defineCarried(op, cg, loop.getResults(), *carried);
  }
};

LogicalResult generateBranch(Operation *op, CodegenContext &cg, Region &region, ArrayRef<Carried> results) {
  if (region.empty())
    return success();
  return failure(failed(cg.generateBlock(region.front())) ||
                 failed(assignCarried(op, cg, region.front().getTerminator()->getOperands(), results)));
}

LogicalResult holdBranch(Operation *op, CodegenContext &cg, Region &region, ArrayRef<Carried> results,
                         std::vector<CodegenContext::Held> &commands) {
  cg.beginHolding();
  LogicalResult result = generateBranch(op, cg, region, results);
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
    isa::Value condition;
    auto results = allocateCarried(op, cg, branch.getResultTypes());
    if (failed(results) || failed(cg.integer(op, branch.getCondition(), condition)) ||
        failed(defineCarried(op, cg, branch.getResults(), *results)))
      return failure();
    if (!condition.isRegister) {
      Region &taken = condition.value ? branch.getThenRegion() : branch.getElseRegion();
      return generateBranch(op, cg, taken, *results);
    }
    std::vector<CodegenContext::Held> thenCommands, elseCommands;
    if (failed(holdBranch(op, cg, branch.getThenRegion(), *results, thenCommands)) ||
        failed(holdBranch(op, cg, branch.getElseRegion(), *results, elseCommands)))
      return failure();
    int64_t thenWords = wordsOf(thenCommands), elseWords = wordsOf(elseCommands);
    if (thenWords == 0 && elseWords == 0)
      return success();
    if (failed(cg.emit(op, isa::SkipIfZero{condition, thenWords + (elseWords ? kSkipWords : 0)})) ||
        failed(cg.store(thenCommands)))
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
