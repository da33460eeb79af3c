//===- TileVectorKernels.cpp - the phases of the pass ---------------------===//

#include "Phases.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/Transforms/TilingInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Kernels/Passes.h"

#define DEBUG_TYPE "tile-vector-kernels"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {
#define GEN_PASS_DEF_TILEVECTORKERNELS
#include "pto_mlir/Kernels/Passes.h.inc"

namespace {
using namespace vector_kernels;

LogicalResult tileVectorKernel(func::FuncOp func, const PhaseContext &context) {
  FailureOr<bool> movement = lowerMovement(func);
  if (failed(movement))
    return failure();
  // Rows with a pitch of their own are no vector.
  std::optional<unsigned> matrix = func->hasAttr(pto::kPitchesAttr) ? std::optional(0u) : std::nullopt;
  if (!*movement && failed(normalizeShapes(func, context, matrix)))
    return failure();
  connectDestinations(func);
  if (!*movement && failed(sliceRows(func)))
    return failure();
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    func.removeArgAttr(i, pto::kSizesAttr);
  if (failed(tileKernel(func, context)) || failed(expandWindows(func)))
    return failure();
  // No canonicalization in between: it would look through the row that a window
  // slides over and load each of its shifts by itself.
  return stageTiles(func);
}

/// Elements of a panel's tensors up to which one vector core takes it: instructions take as long for half of them.
constexpr int64_t kAlone = 256;

/// How many vector cores share `func`, of a launch of `blocks` blocks of `perBlock`; those of one block share a panel.
int64_t coresOf(func::FuncOp func, int64_t blocks, int64_t perBlock) {
  if (!func->hasAttr(pto::kPanelAttr))
    return blocks * perBlock;
  bool isSmall = llvm::all_of(func.getArgumentTypes(),
                              [](Type type) { return cast<RankedTensorType>(type).getNumElements() <= kAlone; });
  return isSmall ? 1 : perBlock;
}

struct TileVectorKernels : impl::TileVectorKernelsBase<TileVectorKernels> {
  using TileVectorKernelsBase::TileVectorKernelsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    TileVectorKernelsBase::getDependentDialects(registry);
    linalg::registerTilingInterfaceExternalModels(registry);
    tensor::registerTilingInterfaceExternalModels(registry);
    tensor::registerInferTypeOpInterfaceExternalModels(registry);
  }

  void runOnOperation() override {
    // A number of blocks that is decided at launch is planned like one.
    const int64_t perBlock = pto::targetOf(getOperation()).vectorCores, blocks = std::max<int64_t>(numCores, 1);
    PhaseContext context(&getContext(), blocks * perBlock);
    // Every kernel is tried: one report names all that cannot be lowered.
    bool good = true;
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      auto kind = func->getAttrOfType<pto::KernelKindAttr>(pto::kKernelKindAttr);
      if (!kind || kind.getValue() != pto::KernelKind::vector || func.isExternal())
        continue;
      // A kernel that is lowered already has pointers for arguments.
      if (!llvm::all_of(func.getArgumentTypes(), llvm::IsaPred<RankedTensorType>))
        continue;
      context.cores = coresOf(func, blocks, perBlock);
      PTO_DEBUG("@" << func.getName() << " for " << context.cores << " vector cores");
      good &= succeeded(tileVectorKernel(func, context));
    }
    if (!good)
      signalPassFailure();
  }
};
} // namespace
} // namespace pto_mlir
