//===- BuildAttentionKernels.cpp - the build-attention-kernels pass -------===//

#include "../CheckLaunch.h"
#include "../KernelParts.h"
#include "../LaunchSlots.h"
#include "Attention.h"

#include "pto_mlir/Dialect/PTO/Transforms/KernelSize.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Kernels/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#define DEBUG_TYPE "build-attention-kernels"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {

#define GEN_PASS_DEF_BUILDATTENTIONKERNELS
#include "pto_mlir/Kernels/Passes.h.inc"

namespace {

/// The attention that a kernel on tensors consists of.
top::AttentionOp attentionOf(func::FuncOp func) {
  if (func.isExternal() || !func->hasAttr(pto::kKernelKindAttr) ||
      !llvm::all_of(func.getArgumentTypes(), llvm::IsaPred<RankedTensorType>))
    return nullptr;
  return attention::attentionIn(func);
}

class BuildAttentionKernelsPass : public impl::BuildAttentionKernelsBase<BuildAttentionKernelsPass> {
public:
  using BuildAttentionKernelsBase::BuildAttentionKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkLaunch(module, numCores)))
      return signalPassFailure();
    bool good = true;
    for (func::FuncOp func : llvm::to_vector(module.getOps<func::FuncOp>()))
      if (top::AttentionOp op = attentionOf(func))
        good &= succeeded(build(func, op));
    if (!good)
      signalPassFailure();
  }

private:
  /// @k and @k.vector, for the two kinds of cores.
  LogicalResult build(func::FuncOp kernel, top::AttentionOp op) {
    const pto::Target &target = pto::targetOf(kernel);
    unsigned inputs = kernel.getNumArguments() - kernel.getNumResults(), numRings = 3;
    std::string reason;
    auto attention = attention::matchAttention(op, target.name, inputs + numRings, &reason);
    if (!attention)
      return op.emitOpError("has no kernel: ") << reason << "; convert-top-to-linalg decomposes it";
    if (failed(attention::matchSizes(kernel, op, *attention)))
      return failure();
    // A net's output leaves as f32.
    attention->out.element = getElementTypeOrSelf(kernel.getArgumentTypes().back());
    auto tiling = attention::chooseAttentionTiling(attention->problem, *attention::attentionLimits(target.name));
    // Slots for all blocks of a chip when the launch is not known.
    int64_t blocks = numCores ? numCores.getValue() : target.blocks;
    PTO_DEBUG("@" << kernel.getName() << ": " << tiling->units(attention->problem) << " units of " << tiling->unit
                  << " rows, tiles of " << tiling->keys << " keys");
    auto rings = attention::makeRings(*attention, *tiling, blocks, inputs);
    const cube::Matrix *slots[] = {&rings.scores.matrix, &rings.weights.matrix, &rings.sums.matrix};
    SmallVector<Type> pointers;
    auto pointer = [&](Type type) { pointers.push_back(pto::PtrType::get(getElementTypeOrSelf(type))); };
    for (Type type : kernel.getArgumentTypes().take_front(inputs))
      pointer(type);
    for (const cube::Matrix *ring : slots)
      pointer(ring->element);
    pointer(kernel.getArgumentTypes().back());
    auto types = llvm::map_to_vector(
        slots, [](const cube::Matrix *ring) { return RankedTensorType::get({ring->rows, ring->cols}, ring->element); });
    for (top::LaunchOp launch : kernels::launchesOf(kernel))
      kernels::addSlots(launch, types);

    func::FuncOp vector = kernels::addVectorPart(kernel);
    kernels::clearBody(kernel, pointers);
    attention::buildCubePart(kernel, *attention, *tiling, rings, numCores);
    kernels::clearBody(vector, pointers);
    attention::buildVectorPart(vector, *attention, *tiling, rings, numCores);
    pto::takeKernelSizes(kernel);
    pto::takeKernelSizes(vector);
    return success();
  }
};

} // namespace

} // namespace pto_mlir
