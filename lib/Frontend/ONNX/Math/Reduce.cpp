// ReduceSum, ReduceMean, ReduceMax, ReduceMin: axes are an attribute first, an input later.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

template <typename OpTy, int axesAreInputSince>
static LogicalResult importReduce(Node &node) {
  bool keepdims = node.intAttr("keepdims", 1);
  SmallVector<int64_t> list;
  if (node.opset() >= axesAreInputSince) {
    bool noop = node.intAttr("noop_with_empty_axes", 0);
    if (node.has(1)) {
      std::optional<SmallVector<int64_t>> axes = node.ints(1, "axes");
      if (!axes)
        return failure();
      list = *axes;
    }
    if (list.empty() && noop)
      return node.finish(node.input(0));
  } else {
    list = node.intsAttr("axes").value_or(SmallVector<int64_t>());
  }
  int64_t rank = node.type(0).getRank();
  if (list.empty())
    list.assign(llvm::seq<int64_t>(0, rank).begin(), llvm::seq<int64_t>(0, rank).end());
  std::optional<SmallVector<int64_t>> axes = node.axes(list, rank);
  if (!axes)
    return failure();
  return node.result<OpTy>(node.input(0), {node.i64s("axes", *axes), node.flag("keepdims", keepdims)});
}

void registerReduce(Registry &registry) {
  registry.add("ReduceSum", {7, 12, 1, 1, importReduce<top::ReduceSumOp, 13>});
  registry.add("ReduceSum", {13, kMaxOpset, 1, 2, importReduce<top::ReduceSumOp, 13>});
  registry.add("ReduceMean", {7, 17, 1, 1, importReduce<top::ReduceMeanOp, 18>});
  registry.add("ReduceMean", {18, kMaxOpset, 1, 2, importReduce<top::ReduceMeanOp, 18>});
  registry.add("ReduceMax", {7, 17, 1, 1, importReduce<top::ReduceMaxOp, 18>});
  registry.add("ReduceMax", {18, kMaxOpset, 1, 2, importReduce<top::ReduceMaxOp, 18>});
  registry.add("ReduceMin", {7, 17, 1, 1, importReduce<top::ReduceMinOp, 18>});
  registry.add("ReduceMin", {18, kMaxOpset, 1, 2, importReduce<top::ReduceMinOp, 18>});
}

} // namespace pto_mlir::onnx
