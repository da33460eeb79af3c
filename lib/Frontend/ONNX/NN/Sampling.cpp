#include "Sampling.h"

using namespace mlir;

namespace pto_mlir::onnx {

Value channelRows(Node &node, Value images, int64_t groups) {
  if (!images)
    return images;
  SmallVector<int64_t> shape(cast<RankedTensorType>(images.getType()).getShape()), perm{0, 1};
  int64_t pixels = ShapedType::getNumElements(ArrayRef<int64_t>(shape).drop_front(2)), channels = shape[1] / groups;
  SmallVector<int64_t> split{shape[0], groups, channels};
  split.append(shape.begin() + 2, shape.end());
  llvm::append_range(perm, llvm::seq<int64_t>(3, split.size()));
  perm.push_back(2);
  Value value = node.reshape("", images, split);
  value = value ? node.create<top::PermuteOp>("", value, {node.i64s("perm", perm)}) : value;
  return value ? node.reshape("", value, {shape[0] * groups * pixels, channels}) : value;
}

namespace {

/// As an integer, whose range is seen to be that of the image: a coordinate may be NaN.
Value pixelNumber(Node &node, Value position, int64_t size) {
  Formula f(node);
  Value number = castTo(node, position, node.builder().getI64Type());
  return f.of<top::ClipOp>(number, {node.f64("min", 0), node.f64("max", static_cast<double>(size - 1))});
}

/// The rows at one choice of taps, weighted.
Value sample(Node &node, Value rows, Value base, ArrayRef<std::vector<Tap>> taps, ArrayRef<size_t> choice,
             ArrayRef<int64_t> sizes) {
  Formula f(node);
  Value index = base, weight;
  int64_t stride = 1;
  for (size_t d = taps.size(); d-- > 0; stride *= sizes[d]) {
    const Tap &tap = taps[d][choice[d]];
    Value number = pixelNumber(node, tap.position, sizes[d]);
    index = number && index ? f.of<top::AddOp>(index, f.of<top::MulOp>(number, double(stride))) : Value();
    if (tap.weight)
      weight = weight ? f.of<top::MulOp>(weight, tap.weight) : tap.weight;
  }
  if (!index || !rows)
    return {};
  int64_t points = cast<RankedTensorType>(index.getType()).getNumElements();
  index = node.reshape("", index, {points});
  Value picked = index ? node.create<top::GatherOp>("", {rows, index}, {node.i64("axis", 0)}) : index;
  if (!weight || !picked)
    return picked;
  if (cast<RankedTensorType>(weight.getType()).getNumElements() != points)
    return (void)node.error("has weights and places of different shapes"), Value();
  Value column = castTo(node, node.reshape("", weight, {points, 1}), getElementTypeOrSelf(picked.getType()));
  return column ? f.of<top::MulOp>(picked, column) : column;
}

} // namespace

Value sampleRows(Node &node, Value rows, Value base, ArrayRef<std::vector<Tap>> taps, ArrayRef<int64_t> sizes,
                 Blend blend) {
  Formula f(node);
  Value all;
  std::vector<size_t> choice(taps.size(), 0);
  while (true) {
    Value term = sample(node, rows, base, taps, choice, sizes);
    all = !all || !term ? term : blend == Blend::sum ? f.of<top::AddOp>(all, term) : f.of<top::MaxOp>(all, term);
    if (!all)
      return all;
    size_t d = taps.size();
    for (; d > 0 && ++choice[d - 1] == taps[d - 1].size(); --d)
      choice[d - 1] = 0;
    if (d == 0)
      return all;
  }
}

} // namespace pto_mlir::onnx
