//===- BuildTemplateKernels.cpp - the build-template-kernels pass ---------===//

#include "../CheckLaunch.h"
#include "../LaunchSlots.h"
#include "Template.h"

#include "pto_mlir/Dialect/PTO/Transforms/KernelSize.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Kernels/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#define DEBUG_TYPE "build-template-kernels"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {

#define GEN_PASS_DEF_BUILDTEMPLATEKERNELS
#include "pto_mlir/Kernels/Passes.h.inc"

namespace {

/// The ops with a template in a kernel on tensors.
SmallVector<Operation *> templateOps(func::FuncOp func) {
  SmallVector<Operation *> ops;
  if (func.isExternal() || !func->hasAttr(pto::kKernelKindAttr) ||
      !llvm::all_of(func.getArgumentTypes(), llvm::IsaPred<RankedTensorType>))
    return ops;
  for (Operation &op : func.getBody().front())
    if (templates::hasTemplate(&op))
      ops.push_back(&op);
  return ops;
}

/// A kernel's ops and which of its arguments they read and write.
struct Body {
  SmallVector<Operation *> ops;
  SmallVector<unsigned> arguments, results;
};

FailureOr<Body> readBody(func::FuncOp kernel, SmallVector<Operation *> ops) {
  Body body{std::move(ops), {}, {}};
  auto number = [&](Value value) { return dyn_cast<BlockArgument>(value); };
  for (Value operand : body.ops.front()->getOperands()) {
    if (!number(operand))
      return body.ops.front()->emitOpError("reads what its kernel computes; form-kernels gives it a kernel of its own");
    body.arguments.push_back(number(operand).getArgNumber());
  }
  auto returned = cast<func::ReturnOp>(kernel.getBody().front().getTerminator()).getOperands();
  unsigned inputs = kernel.getNumArguments() - returned.size();
  for (Operation *op : body.ops) {
    auto result = llvm::find(returned, op->getResult(0));
    if (result == returned.end())
      return op->emitOpError("is no result of its kernel");
    body.results.push_back(inputs + std::distance(returned.begin(), result));
  }
  return body;
}

class BuildTemplateKernelsPass : public impl::BuildTemplateKernelsBase<BuildTemplateKernelsPass> {
public:
  using BuildTemplateKernelsBase::BuildTemplateKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkLaunch(module, numCores)))
      return signalPassFailure();
    bool good = true;
    for (func::FuncOp func : llvm::to_vector(module.getOps<func::FuncOp>()))
      if (SmallVector<Operation *> ops = templateOps(func); !ops.empty())
        good &= succeeded(build(func, std::move(ops)));
    if (!good)
      signalPassFailure();
  }

private:
  LogicalResult build(func::FuncOp kernel, SmallVector<Operation *> ops) {
    std::string reason = templates::refusal(ops.front(), pto::targetOf(kernel));
    if (!reason.empty())
      return ops.front()->emitOpError("has no kernel: ") << reason;
    FailureOr<Body> body = readBody(kernel, std::move(ops));
    if (failed(body))
      return failure();
    PTO_DEBUG("@" << kernel.getName() << ": " << body->ops.front()->getName() << ", " << body->ops.size()
                  << " results");
    const templates::Template &made = *templates::templateOf(body->ops.front());
    SmallVector<RankedTensorType> unread = made.unread(body->ops);
    kernels::SizeAnalysis analysis(kernel);
    auto sizes = llvm::map_to_vector(kernel.getArguments(), [&](Value argument) { return analysis.of(argument); });
    SmallVector<Type> pointers;
    for (Type type : kernel.getArgumentTypes())
      pointers.push_back(pto::PtrType::get(getElementTypeOrSelf(type)));
    unsigned inputs = kernel.getNumArguments() - kernel.getNumResults();
    auto slots = llvm::map_range(unread, [](Type type) { return pto::PtrType::get(getElementTypeOrSelf(type)); });
    pointers.insert(pointers.begin() + inputs, slots.begin(), slots.end());
    for (unsigned &result : body->results)
      result += unread.size();
    if (!unread.empty())
      for (top::LaunchOp launch : kernels::launchesOf(kernel))
        kernels::addSlots(launch, unread);
    // The ops are read while the new body is emitted.
    Region old;
    old.takeBody(kernel.getBody());
    kernel.setFunctionType(FunctionType::get(&getContext(), pointers, {}));
    kernel.removeArgAttrsAttr();
    kernel.removeResAttrsAttr();
    kernel.addEntryBlock();
    if (failed(made.fill(kernel, numCores, sizes, body->ops, body->arguments, body->results)))
      return failure();
    pto::takeKernelSizes(kernel);
    return success();
  }
};

} // namespace

} // namespace pto_mlir
