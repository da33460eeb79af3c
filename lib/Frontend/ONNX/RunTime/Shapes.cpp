// Forms of operators that change shapes or read them.
#include "../Tensor/Filling.h"
#include "Forms.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult shape(Node &node) {
  int64_t rank = node.type(0).getRank();
  int64_t start = node.opset() >= 15 ? node.intAttr("start", 0) : 0;
  int64_t end = node.opset() >= 15 ? node.intAttr("end", rank) : rank;
  start = std::clamp<int64_t>(start < 0 ? start + rank : start, 0, rank);
  end = std::clamp<int64_t>(end < 0 ? end + rank : end, start, rank);
  return node.finish(atRunTime(node, node.outputName(), "shape", node.input(0),
                               RankedTensorType::get(end - start, node.builder().getI64Type()),
                               {node.i64("start", start), node.i64("end", end)}));
}

static LogicalResult unsqueeze(Node &node) {
  std::optional<SmallVector<int64_t>> given = node.opset() < 13 ? node.intsAttr("axes") : node.ints(1, "axes");
  if (!given)
    return node.hasErrors() ? failure() : node.error("lacks 'axes'");
  std::optional<SmallVector<int64_t>> axes = node.axes(*given, node.type(0).getRank() + int64_t(given->size()));
  if (!axes)
    return failure();
  SmallVector<int64_t> result(node.type(0).getShape());
  for (int64_t axis : *axes)
    result.insert(result.begin() + axis, 1);
  return node.finish(
      atRunTime(node, node.outputName(), "unsqueeze", node.input(0), result, {node.i64s("axes", *axes)}));
}

// Without axes those of size 1 go; the run fails where one whose size it decides has size 1.
static LogicalResult squeeze(Node &node) {
  ArrayRef<int64_t> sizes = node.type(0).getShape();
  std::optional<SmallVector<int64_t>> axes = axesOf(node, 13, node.type(0).getRank());
  bool isRest = !axes;
  if (isRest && node.hasErrors())
    return failure();
  if (isRest)
    axes.emplace();
  for (auto [d, size] : llvm::enumerate(sizes))
    if (isRest && size == 1)
      axes->push_back(int64_t(d));
  SmallVector<int64_t> result;
  for (auto [d, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(*axes, int64_t(d)))
      result.push_back(size);
  return node.finish(atRunTime(node, node.outputName(), "squeeze", node.input(0), result,
                               {node.i64s("axes", *axes), node.i64("rest", isRest)}));
}

static LogicalResult flatten(Node &node) {
  int64_t rank = node.type(0).getRank(), axis = node.intAttr("axis", 1);
  if (axis < -rank || axis > rank)
    return node.error("axis " + Twine(axis) + " is outside of an input of rank " + Twine(rank));
  axis += axis < 0 ? rank : 0;
  auto product = [](ArrayRef<int64_t> sizes) {
    int64_t all = 1;
    for (int64_t size : sizes)
      all = ShapedType::isDynamic(size) || ShapedType::isDynamic(all) ? kOpen : all * size;
    return all;
  };
  ArrayRef<int64_t> sizes = node.type(0).getShape();
  return node.finish(atRunTime(node, node.outputName(), "flatten", node.input(0),
                               {product(sizes.take_front(axis)), product(sizes.drop_front(axis))},
                               {node.i64("axis", axis)}));
}

// The sizes that input `i` lists, as far as they are known; nullopt after an error.
static std::optional<SmallVector<int64_t>> listed(Node &node, unsigned i) {
  if (node.type(i).getRank() != 1 || !node.type(i).hasStaticShape()) {
    (void)node.error("has a list of sizes whose length is known at run time only");
    return std::nullopt;
  }
  SmallVector<int64_t> sizes(node.type(i).getNumElements(), kOpen);
  if (std::optional<top::Weight> known = node.constant(i))
    llvm::copy(top::toInts(*known), sizes.begin());
  return sizes;
}

static LogicalResult reshape(Node &node) {
  std::optional<SmallVector<int64_t>> sizes = listed(node, 1);
  if (!sizes)
    return failure();
  for (int64_t &size : *sizes)
    size = size > 0 ? size : kOpen;
  // The one that is left of a tensor of fixed size.
  if (node.type(0).hasStaticShape() && llvm::count(*sizes, kOpen) == 1) {
    int64_t rest = 1;
    for (int64_t size : *sizes)
      rest *= ShapedType::isDynamic(size) ? 1 : size;
    if (node.constant(1) && llvm::is_contained(top::toInts(*node.constant(1)), -1))
      *llvm::find(*sizes, kOpen) = node.type(0).getNumElements() / rest;
  }
  int64_t allowZero = node.opset() >= 14 ? node.intAttr("allowzero", 0) : 0;
  return node.finish(atRunTime(node, node.outputName(), "reshape", {node.input(0), node.input(1)}, *sizes,
                               {node.i64("allowzero", allowZero)}));
}

static LogicalResult expandTo(Node &node, Value value, unsigned sizesAt) {
  std::optional<SmallVector<int64_t>> sizes = listed(node, sizesAt);
  if (!sizes || !value)
    return failure();
  ArrayRef<int64_t> own = sizesOf(value);
  if (own.size() > sizes->size())
    sizes->insert(sizes->begin(), own.size() - sizes->size(), 1);
  for (auto [from, to] : llvm::zip_equal(own, MutableArrayRef(*sizes).take_back(own.size())))
    to = from != 1 && (to == 1 || ShapedType::isDynamic(to)) ? from : to;
  return node.finish(atRunTime(node, node.outputName(), "expand", {value, node.input(sizesAt)}, *sizes));
}

static LogicalResult expand(Node &node) { return expandTo(node, node.input(0), 1); }

static LogicalResult constantOfShape(Node &node) {
  std::optional<top::Weight> filling = fillingOf(node);
  if (!filling)
    return failure();
  OpBuilder &b = node.builder();
  auto type = RankedTensorType::get({}, filling->type.getElementType());
  return expandTo(node, top::createConstant(b, b.getUnknownLoc(), "", type, filling->bytes.vec()), 0);
}

static SmallVector<int64_t> upTo(size_t count) { return llvm::to_vector(llvm::seq<int64_t>(0, int64_t(count))); }

static LogicalResult slice(Node &node) {
  bool areInputs = node.opset() >= 10;
  std::optional<SmallVector<int64_t>> starts = areInputs ? listed(node, 1) : node.intsAttr("starts"),
                                      ends = areInputs ? listed(node, 2) : node.intsAttr("ends"), axes, steps;
  if (!starts || !ends)
    return node.hasErrors() ? failure() : node.error("lacks attribute 'starts' or 'ends'");
  axes = !areInputs    ? node.intsAttr("axes").value_or(upTo(starts->size()))
         : node.has(3) ? node.ints(3, "axes")
                       : upTo(starts->size());
  steps = areInputs && node.has(4) ? node.ints(4, "steps") : SmallVector<int64_t>(starts->size(), 1);
  if (!axes || !steps)
    return failure();
  SmallVector<int64_t> result(node.type(0).getShape());
  for (int64_t axis : *axes) {
    std::optional<int64_t> dim = node.axis(axis, node.type(0).getRank());
    if (!dim)
      return failure();
    result[*dim] = kOpen;
  }
  return node.finish(atRunTime(node, node.outputName(), "slice",
                               {node.input(0), areInputs ? node.input(1) : integers(node, *starts),
                                areInputs ? node.input(2) : integers(node, *ends)},
                               result, {node.i64s("axes", *axes), node.i64s("steps", *steps)}));
}

static LogicalResult transpose(Node &node) {
  SmallVector<int64_t> all = upTo(node.type(0).getRank()), result;
  SmallVector<int64_t> perm = node.intsAttr("perm").value_or(SmallVector<int64_t>(llvm::reverse(all)));
  SmallVector<int64_t> sorted(perm);
  llvm::sort(sorted);
  if (sorted != all)
    return node.error("attribute 'perm' is no permutation of the dimensions");
  for (int64_t d : perm)
    result.push_back(node.type(0).getDimSize(d));
  return node.finish(atRunTime(node, node.outputName(), "permute", node.input(0), result, {node.i64s("perm", perm)}));
}

static LogicalResult concat(Node &node) {
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", 0), node.type(0).getRank());
  if (!axis)
    return failure();
  SmallVector<Value> operands;
  SmallVector<int64_t> result(node.type(0).getRank(), kOpen);
  int64_t total = 0;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    operands.push_back(node.input(i));
    ArrayRef<int64_t> sizes = node.type(i).getShape();
    if (sizes.size() != result.size() || !operands.back())
      return operands.back() ? node.error("has operands of different ranks") : failure();
    for (auto [all, size] : llvm::zip_equal(result, sizes))
      all = ShapedType::isDynamic(all) ? size : all;
    total = ShapedType::isDynamic(total) || ShapedType::isDynamic(sizes[*axis]) ? kOpen : total + sizes[*axis];
  }
  result[*axis] = total;
  return node.finish(atRunTime(node, node.outputName(), "concat", operands, result, {node.i64("axis", *axis)}));
}

// Equal parts only of an extent that is known.
static LogicalResult split(Node &node) {
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", 0), node.type(0).getRank());
  if (!axis)
    return failure();
  Value sizes;
  std::optional<SmallVector<int64_t>> known;
  int64_t parts = node.numOutputs(), size = node.type(0).getDimSize(*axis);
  if (node.opset() >= 13 && node.has(1)) {
    sizes = node.input(1);
    known = listed(node, 1);
  } else if (known = node.opset() < 13 ? node.intsAttr("split") : std::nullopt; known) {
    sizes = integers(node, *known);
  } else {
    if (node.opset() >= 18 && node.intAttr("num_outputs", parts) != parts)
      return node.error("has another number of outputs than attribute 'num_outputs'");
    if (ShapedType::isDynamic(size) || size % parts != 0)
      return node.error("splits into equal parts what is known at run time only");
    known = SmallVector<int64_t>(parts, size / parts);
    sizes = integers(node, *known);
  }
  if (!known || !sizes || int64_t(known->size()) != parts)
    return node.hasErrors() ? failure() : node.error("has another number of sizes than outputs");
  for (int64_t i = 0; i < parts; ++i) {
    if (!node.wantsOutput(i))
      continue;
    SmallVector<int64_t> result(node.type(0).getShape());
    result[*axis] = (*known)[i];
    Value part = atRunTime(node, node.outputName(i), "split_part", {node.input(0), sizes}, result,
                           {node.i64("axis", *axis), node.i64("part", i)});
    if (!part)
      return failure();
    node.set(i, part);
  }
  return success();
}

static LogicalResult tile(Node &node) {
  std::optional<SmallVector<int64_t>> times = listed(node, 1);
  SmallVector<int64_t> result(node.type(0).getShape());
  if (!times || times->size() != result.size())
    return times ? node.error("takes a number of repeats for each dimension") : failure();
  for (auto [size, count] : llvm::zip_equal(result, *times))
    size = ShapedType::isDynamic(size) || ShapedType::isDynamic(count) ? kOpen : size * count;
  return node.finish(atRunTime(node, node.outputName(), "tile", {node.input(0), node.input(1)}, result));
}

static LogicalResult pad(Node &node) {
  bool areInputs = node.opset() >= 11;
  std::string mode = node.stringAttr("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && (mode != "wrap" || node.opset() < 19))
    return node.error("mode '" + mode + "' is not supported in this opset");
  int64_t rank = node.type(0).getRank();
  std::optional<SmallVector<int64_t>> pads = areInputs ? listed(node, 1) : node.intsAttr("pads"), axes = upTo(rank);
  if (areInputs && node.has(3))
    axes = node.ints(3, "axes");
  if (axes)
    axes = node.axes(*axes, rank);
  if (!pads || !axes || pads->size() != 2 * axes->size())
    return node.hasErrors() ? failure() : node.error("takes two pads for each axis");
  SmallVector<int64_t> result(node.type(0).getShape());
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    int64_t before = (*pads)[i], after = (*pads)[i + axes->size()];
    bool isKnown = !ShapedType::isDynamicShape({before, after, result[axis]});
    result[axis] = isKnown ? result[axis] + before + after : kOpen;
  }
  SmallVector<Value> operands{node.input(0), areInputs ? node.input(1) : integers(node, *pads)};
  if (areInputs && node.has(2))
    operands.push_back(node.input(2));
  else if (double value = areInputs ? 0 : node.floatAttr("value", 0); value != 0) {
    OpBuilder &b = node.builder();
    Type element = node.type(0).getElementType();
    operands.push_back(top::createConstant(b, b.getUnknownLoc(), "", RankedTensorType::get({}, element),
                                           top::fromDoubles(element, {value})));
  }
  if (llvm::is_contained(operands, Value()))
    return failure();
  return node.finish(atRunTime(node, node.outputName(), "pad", operands, result,
                               {node.i64s("axes", *axes), node.named("mode", node.builder().getStringAttr(mode))}));
}

static LogicalResult range(Node &node) {
  return node.finish(
      atRunTime(node, node.outputName(), "range", {node.input(0), node.input(1), node.input(2)}, {kOpen}));
}

void addShapeForms(Forms &forms) {
  forms["Shape"] = shape;
  forms["Unsqueeze"] = unsqueeze;
  forms["Squeeze"] = squeeze;
  forms["Flatten"] = flatten;
  forms["Reshape"] = reshape;
  forms["Expand"] = expand;
  forms["ConstantOfShape"] = constantOfShape;
  forms["Slice"] = slice;
  forms["Transpose"] = transpose;
  forms["Concat"] = concat;
  forms["Split"] = split;
  forms["Tile"] = tile;
  forms["Pad"] = pad;
  forms["Range"] = range;
}

} // namespace pto_mlir::onnx
