// Slice: bounds are attributes before opset 10, inputs since. They are clamped here, so that top.slice has valid
// positions.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult slice(Node &node, ArrayRef<int64_t> starts, ArrayRef<int64_t> ends, ArrayRef<int64_t> axes,
                           ArrayRef<int64_t> steps) {
  RankedTensorType type = node.type(0);
  int64_t rank = type.getRank();
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return node.error("starts, ends, axes and steps differ in length");
  if (!node.axes(axes, rank))
    return failure();
  SmallVector<int64_t> first(rank, 0), last(type.getShape()), by(rank, 1);
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t dim = axes[i] < 0 ? axes[i] + rank : axes[i], size = type.getDimSize(dim), step = steps[i];
    if (step == 0)
      return node.error("steps must not be 0");
    bool down = step < 0;
    // Huge bounds mean "to the end". The addition cannot overflow, since only negative bounds are adjusted.
    int64_t start = starts[i] < 0 ? starts[i] + size : starts[i], end = ends[i] < 0 ? ends[i] + size : ends[i];
    by[dim] = step;
    if (size == 0)
      continue;
    first[dim] = std::clamp<int64_t>(start, 0, down ? size - 1 : size);
    last[dim] = down ? std::clamp<int64_t>(end, -1, size - 1) : std::clamp<int64_t>(end, 0, size);
  }
  bool whole = ArrayRef<int64_t>(last) == type.getShape() && llvm::all_of(first, [](int64_t v) { return v == 0; }) &&
               llvm::all_of(by, [](int64_t v) { return v == 1; });
  if (whole)
    return node.finish(node.input(0));
  return node.result<top::SliceOp>(node.input(0),
                                   {node.i64s("starts", first), node.i64s("ends", last), node.i64s("steps", by)});
}

static SmallVector<int64_t> upTo(size_t count) { return llvm::to_vector(llvm::seq<int64_t>(0, count)); }

static LogicalResult importSliceAttributes(Node &node) {
  std::optional<SmallVector<int64_t>> starts = node.intsAttr("starts"), ends = node.intsAttr("ends");
  if (!starts || !ends)
    return node.error("lacks attribute 'starts' or 'ends'");
  return slice(node, *starts, *ends, node.intsAttr("axes").value_or(upTo(starts->size())),
               SmallVector<int64_t>(starts->size(), 1));
}

static LogicalResult importSlice(Node &node) {
  std::optional<SmallVector<int64_t>> starts = node.ints(1, "starts"), ends = node.ints(2, "ends"), axes, steps;
  if (!starts || !ends)
    return failure();
  axes = node.has(3) ? node.ints(3, "axes") : upTo(starts->size());
  steps = node.has(4) ? node.ints(4, "steps") : SmallVector<int64_t>(starts->size(), 1);
  if (!axes || !steps)
    return failure();
  return slice(node, *starts, *ends, *axes, *steps);
}

void registerSlice(Registry &registry) {
  registry.add("Slice", {7, 9, 1, 1, importSliceAttributes, kTakesStrings});
  registry.add("Slice", {10, kMaxOpset, 3, 5, importSlice, kTakesStrings});
}

} // namespace pto_mlir::onnx
