// convert-control-to-vm: a net with control flow becomes nets and a program.
#include "Splitter.h"
#include "pto_mlir/Conversion/ControlToVM/Passes.h"
#include "pto_mlir/Dialect/Top/IR/Control.h"
#include "pto_mlir/Dialect/Top/IR/State.h"

#define DEBUG_TYPE "convert-control-to-vm"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {
#define GEN_PASS_DEF_CONVERTCONTROLTOVM
#include "pto_mlir/Conversion/ControlToVM/Passes.h.inc"

Operation *firstControlFlow(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return nullptr;
  Block &block = main.getBody().front();
  auto found = llvm::find_if(block, [](Operation &op) { return top::isControlFlow(&op); });
  return found == block.end() ? nullptr : &*found;
}

bool hasControlFlow(ModuleOp module) { return firstControlFlow(module) != nullptr; }

namespace {

struct ConvertControlToVM : impl::ConvertControlToVMBase<ConvertControlToVM> {
  void getDependentDialects(DialectRegistry &registry) const override { vm::registerProgramOps(registry); }

  void runOnOperation() override {
    PTO_DEBUG((hasControlFlow(getOperation()) ? "@main is split at its control flow" : "@main has no control flow"));
    if (hasControlFlow(getOperation()) &&
        failed(control_to_vm::Splitter(getOperation().lookupSymbol<func::FuncOp>("main")).run()))
      signalPassFailure();
  }
};

} // namespace

namespace control_to_vm {

Splitter::Splitter(func::FuncOp main)
    : module(main->getParentOfType<ModuleOp>()), main(main), b(main.getContext()), loc(main.getLoc()) {}

LogicalResult Splitter::run() {
  b.setInsertionPoint(main);
  findStates();
  program = b.create<func::FuncOp>(loc, "main", programType());
  Block *entry = program.addEntryBlock();
  b.setInsertionPointToStart(entry);
  for (BlockArgument argument : main.getArguments())
    if (unsigned number = argument.getArgNumber(); !top::isStateArgument(main, number)) {
      unsigned input = top::inputNumber(main, number);
      held[argument] = {entry->getArgument(input), Value()};
      program.setArgAttrs(input, main.getArgAttrDict(number));
    }
  Block &body = main.getBody().front();
  if (failed(emitBlock(body)))
    return failure();
  SmallVector<Value> results;
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
    if (!main.getResultAttr(i, top::kStateOfAttr)) {
      program.setResultAttrs(results.size(), main.getResultAttrDict(i));
      results.push_back(tensor(value));
    }
  if (isBroken)
    return failure();
  b.create<vm::ReturnOp>(loc, results);
  main.erase();
  return success();
}

} // namespace control_to_vm
} // namespace pto_mlir
