//===- ControlFlow.cpp - scf -> loop, end, skip_if_zero -------------------===//

#include "Models.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

constexpr int64_t kSkipWords = 3; // of a skip_if_zero

/// A register for each integer that `op` hands on, alive until its last use; other values cannot be handed on.
LogicalResult allocateCarried(Operation *op, CodegenContext &cg, SmallVectorImpl<uint8_t> &registers) {
  for (Type type : op->getResultTypes()) {
    if (!type.isIntOrIndex())
      return op->emitOpError("hands on a value of type ") << type << ", command streams hand on integers only";
    auto reg = cg.temporary(op);
    if (failed(reg))
      return failure();
    registers.push_back(*reg);
  }
  return success();
}

/// registers = the operands of the block's yield, all at once.
LogicalResult assignYielded(Operation *op, CodegenContext &cg, Block &block, ArrayRef<uint8_t> registers) {
  SmallVector<isa::Value> values(registers.size());
  for (auto [i, operand] : llvm::enumerate(block.getTerminator()->getOperands())) {
    if (failed(cg.integer(op, operand, values[i])))
      return failure();
    // A register that is assigned below is read before.
    if (values[i].isRegister && values[i].value != registers[i] && llvm::is_contained(registers, uint8_t(values[i].value))) {
      auto copy = cg.temporary(op);
      if (failed(copy) || failed(cg.emit(op, isa::Mov{*copy, values[i]})))
        return failure();
      values[i] = isa::Value::reg(*copy);
    }
  }
  for (auto [reg, value] : llvm::zip(registers, values))
    if (!(value.isRegister && value.value == reg) && failed(cg.emit(op, isa::Mov{reg, value})))
      return failure();
  return success();
}

struct ForModel : CodegenOpInterface::ExternalModel<ForModel, scf::ForOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto loop = cast<scf::ForOp>(op);
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
    SmallVector<uint8_t> carried;
    if (failed(allocateCarried(op, cg, carried)))
      return failure();
    for (auto [init, argument, reg] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), carried)) {
      isa::Value first;
      if (failed(cg.integer(op, init, first)) || failed(cg.emit(op, isa::Mov{reg, first})))
        return failure();
      cg.define(argument, isa::Value::reg(reg));
    }
    if (failed(cg.emit(op, insn)) || failed(cg.generateBlock(*loop.getBody())) || failed(assignYielded(op, cg, *loop.getBody(), carried)) ||
        failed(cg.emit(op, isa::End{})))
      return failure();
    for (auto [result, reg] : llvm::zip(loop.getResults(), carried))
      cg.define(result, isa::Value::reg(reg));
    return success();
  }
};

LogicalResult generateBranch(Operation *op, CodegenContext &cg, Region &region, ArrayRef<uint8_t> results) {
  if (region.empty())
    return success();
  return failure(failed(cg.generateBlock(region.front())) || failed(assignYielded(op, cg, region.front(), results)));
}

LogicalResult holdBranch(Operation *op, CodegenContext &cg, Region &region, ArrayRef<uint8_t> results,
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
    SmallVector<uint8_t> results;
    if (failed(cg.integer(op, branch.getCondition(), condition)) || failed(allocateCarried(op, cg, results)))
      return failure();
    for (auto [result, reg] : llvm::zip(branch.getResults(), results))
      cg.define(result, isa::Value::reg(reg));
    if (!condition.isRegister) {
      Region &taken = condition.value ? branch.getThenRegion() : branch.getElseRegion();
      return generateBranch(op, cg, taken, results);
    }
    std::vector<CodegenContext::Held> thenCommands, elseCommands;
    if (failed(holdBranch(op, cg, branch.getThenRegion(), results, thenCommands)) ||
        failed(holdBranch(op, cg, branch.getElseRegion(), results, elseCommands)))
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
