// Pad: pads are an attribute before opset 11, an input since. Negative pads crop. Modes other than constant concatenate
// parts of the input.
#include "../Composite.h"
#include "../Exact.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

namespace {
struct Pads {
  SmallVector<int64_t> begin, end; ///< per dimension
};
} // namespace

/// From so many pieces along one dimension on, each of which is a separate copy, elements are gathered.
constexpr size_t kMostPieces = 128;
/// Limit on an extended dimension, whose positions are listed.
constexpr int64_t kMostPositions = int64_t(1) << 24;

// The slice [first, first + count) of dimension `dim`.
static Value cut(Node &node, StringRef name, Value value, int64_t dim, int64_t first, int64_t count) {
  if (!value)
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> starts(type.getRank(), 0), ends(type.getShape()), steps(type.getRank(), 1);
  starts[dim] = first;
  ends[dim] = first + count;
  return node.create<top::SliceOp>(name, value,
                                   {node.i64s("starts", starts), node.i64s("ends", ends), node.i64s("steps", steps)});
}

// The input index for a position along a padded dimension.
static int64_t sourceOf(int64_t position, int64_t size, StringRef mode) {
  if (mode == "edge")
    return std::clamp<int64_t>(position, 0, size - 1);
  if (mode == "wrap")
    return (position % size + size) % size;
  int64_t period = std::max<int64_t>(2 * (size - 1), 1), at = (position % period + period) % period;
  return at < size ? at : period - at;
}

// Pads both sides of one dimension with parts of the input.
static Value extend(Node &node, StringRef name, Value value, int64_t dim, int64_t begin, int64_t end, StringRef mode) {
  int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(dim);
  if (begin + size + end > kMostPositions) {
    (void)node.error("mode '" + mode + "' with pads of " + Twine(begin) + " and " + Twine(end) + " in dimension " +
                     Twine(dim) + " is not supported; " + Twine(kMostPositions) + " elements in all are");
    return {};
  }
  SmallVector<int64_t> sources;
  SmallVector<std::pair<int64_t, int64_t>> runs; // (first, count) of consecutive source elements
  for (int64_t position = -begin; position < size + end; ++position) {
    int64_t source = sources.emplace_back(sourceOf(position, size, mode));
    if (!runs.empty() && runs.back().first + runs.back().second == source)
      ++runs.back().second;
    else
      runs.push_back({source, 1});
  }
  if (runs.size() > kMostPieces) {
    OpBuilder &b = node.builder();
    auto type = RankedTensorType::get({static_cast<int64_t>(sources.size())}, b.getI64Type());
    Value indices =
        top::createConstant(b, b.getUnknownLoc(), "positions", type, top::fromInts(b.getI64Type(), sources));
    return node.create<top::GatherOp>(name, {value, indices}, {node.i64("axis", dim)});
  }
  SmallVector<Value> pieces;
  for (auto [first, count] : runs)
    pieces.push_back(count == size ? value : cut(node, "", value, dim, first, count));
  return node.create<top::ConcatOp>(name, pieces, {node.i64("axis", dim)});
}

// `value` padded with a computed number: zeros, and the number where a padded tensor of ones has zeros.
static LogicalResult padWithComputed(Node &node, Value value, NamedAttribute pads, Value number) {
  Formula f(node);
  Value padded = f.of<top::PadOp>(value, {pads, node.f64("value", 0)});
  auto type = cast<RankedTensorType>(value.getType());
  Value inner = node.filled("", RankedTensorType::get(type.getShape(), node.builder().getI32Type()), 1);
  Value isInner = f.compare(f.of<top::PadOp>(inner, {pads, node.f64("value", 0)}), "gt", 0.0);
  return padded && isInner ? f.choose(isInner, padded, number) : failure();
}

static LogicalResult build(Node &node, Pads pads, StringRef mode, double constant, Value computed) {
  Value value = node.input(0);
  int64_t rank = node.type(0).getRank(), last = -1;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (pads.begin[dim] > 0 || pads.end[dim] > 0)
      last = dim;
  // Crop first; the last op gets the node's name.
  int64_t lastCut = -1;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (pads.begin[dim] < 0 || pads.end[dim] < 0)
      lastCut = dim;
  for (int64_t dim = 0; dim <= lastCut; ++dim) {
    int64_t size = node.type(0).getDimSize(dim), first = std::max<int64_t>(-pads.begin[dim], 0),
            after = std::max<int64_t>(-pads.end[dim], 0);
    if (first + after >= size)
      return node.error("negative pads leave nothing of dimension " + Twine(dim) + " (" + Twine(size) + ")");
    if (first || after)
      value = cut(node, last < 0 && dim == lastCut ? node.outputName() : "", value, dim, first, size - first - after);
    pads.begin[dim] = std::max<int64_t>(pads.begin[dim], 0);
    pads.end[dim] = std::max<int64_t>(pads.end[dim], 0);
  }
  if (last < 0)
    return node.finish(value);
  if (mode == "constant") {
    SmallVector<int64_t> all(pads.begin);
    llvm::append_range(all, pads.end);
    if (computed)
      return padWithComputed(node, value, node.i64s("pads", all), computed);
    return node.result<top::PadOp>(value, {node.i64s("pads", all), node.f64("value", constant)});
  }
  for (int64_t dim = 0; dim < rank && value; ++dim)
    if (pads.begin[dim] || pads.end[dim])
      value = extend(node, dim == last ? node.outputName() : "", value, dim, pads.begin[dim], pads.end[dim], mode);
  return node.finish(value);
}

static LogicalResult importPad(Node &node) {
  int64_t rank = node.type(0).getRank();
  std::string mode = node.stringAttr("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && (mode != "wrap" || node.opset() < 19))
    return node.error("mode '" + mode + "' is not supported in this opset");
  std::optional<SmallVector<int64_t>> given;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  double constant = 0;
  Value computed; // the pad value where it is no constant
  if (node.opset() < 11) {
    given = node.intsAttr("pads");
    constant = node.floatAttr("value", 0);
    if (!given)
      return node.error("lacks attribute 'pads'");
  } else {
    given = node.ints(1, "pads");
    if (node.has(2)) {
      std::optional<top::Weight> value = node.constant(2);
      if (node.type(2).getNumElements() != 1)
        return node.error("the pad value must be one number");
      if (value && isa<IntegerType>(value->type.getElementType()) && !isExactAsDouble(*value))
        return node.error("the pad value is an integer beyond 2^53 that no double holds");
      if (value)
        constant = top::toDoubles(*value).front();
      else
        computed = node.reshape("", node.input(2), {});
    }
    if (node.has(3)) {
      std::optional<SmallVector<int64_t>> list = node.ints(3, "axes");
      if (!list || !node.axes(*list, rank))
        return failure();
      axes = *list;
    }
    if (!given)
      return failure();
  }
  if (given->size() != 2 * axes.size())
    return node.error("takes " + Twine(2 * axes.size()) + " pads, got " + Twine(given->size()));
  if (llvm::any_of(*given, [](int64_t pad) { return pad < -INT32_MAX || pad > INT32_MAX; }))
    return node.error("pads are out of range");
  Pads pads{SmallVector<int64_t>(rank, 0), SmallVector<int64_t>(rank, 0)};
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t dim = axis < 0 ? axis + rank : axis;
    pads.begin[dim] = (*given)[i];
    pads.end[dim] = (*given)[axes.size() + i];
  }
  return build(node, pads, mode, constant, computed);
}

void registerPad(Registry &registry) {
  registry.add("Pad", {7, 10, 1, 1, importPad});
  registry.add("Pad", {11, 17, 2, 3, importPad});
  registry.add("Pad", {18, kMaxOpset, 2, 4, importPad});
}

} // namespace pto_mlir::onnx
