// Global pooling is a reduction over all spatial dimensions.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

template <typename OpTy> static LogicalResult importGlobalPool(Node &node) {
  int64_t rank = node.type(0).getRank();
  if (rank < 3)
    return node.error("takes an input of rank 3 and more, got rank " + Twine(rank));
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, rank));
  return node.result<OpTy>(node.input(0), {node.i64s("axes", axes)});
}

void registerGlobalPool(Registry &registry) {
  registry.add("GlobalAveragePool", {7, kMaxOpset, 1, 1, importGlobalPool<top::ReduceMeanOp>});
  registry.add("GlobalMaxPool", {7, kMaxOpset, 1, 1, importGlobalPool<top::ReduceMaxOp>});
}

} // namespace pto_mlir::onnx
