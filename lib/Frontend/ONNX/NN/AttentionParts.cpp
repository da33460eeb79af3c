#include "AttentionParts.h"

#include "../Composite.h"

#include <limits>

using namespace mlir;

namespace pto_mlir::onnx {

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

Value castTo(Node &node, Value value, Type element, StringRef name) {
  if (!value || typeOf(value).getElementType() == element)
    return value;
  return node.create<top::CastOp>(name, value, {node.named("to", TypeAttr::get(element))});
}

Value sliceDim(Node &node, Value value, int64_t dim, int64_t begin, int64_t end) {
  if (!value)
    return {};
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  if (begin == 0 && end == shape[dim])
    return value;
  SmallVector<int64_t> starts(shape.size(), 0), ends(shape), steps(shape.size(), 1);
  starts[dim] = begin, ends[dim] = end;
  return node.create<top::SliceOp>("", value,
                                   {node.i64s("starts", starts), node.i64s("ends", ends), node.i64s("steps", steps)});
}

Value concatenate(Node &node, StringRef name, ValueRange parts, int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  return node.create<top::ConcatOp>(name, parts, {node.i64("axis", axis)});
}

Value floats(Node &node, ArrayRef<int64_t> shape, ArrayRef<double> numbers) {
  OpBuilder &b = node.builder();
  Type f32 = b.getF32Type();
  return top::createConstant(b, b.getUnknownLoc(), (node.outputName() + "_numbers").str(),
                             RankedTensorType::get(shape, f32), top::fromDoubles(f32, numbers));
}

HeadTensor splitHeads(Node &node, HeadTensor tensor, StringRef name) {
  if (!tensor.value || !tensor.isMerged)
    return tensor;
  Value rows = node.reshape("", tensor.value, {tensor.batch(), tensor.rows(), tensor.heads, tensor.depth()});
  return {node.create<top::PermuteOp>(name, rows, {node.i64s("perm", {0, 2, 1, 3})}), tensor.heads, false};
}

Value buildAttention(Node &node, StringRef name, const AttentionSpec &spec) {
  OpBuilder &b = node.builder();
  SmallVector<Value> operands{spec.query.value, spec.key.value, spec.value.value};
  SmallVector<int32_t> segments{1, 1, 1};
  for (Value optional : {spec.bias, spec.lengths, spec.sinks}) {
    segments.push_back(optional ? 1 : 0);
    if (optional)
      operands.push_back(optional);
  }
  SmallVector<NamedAttribute> attributes{
      node.named("operandSegmentSizes", b.getDenseI32ArrayAttr(segments)),
      node.f64("scale", spec.scale),
      node.f64("softcap", spec.softcap),
      node.i64("q_heads", spec.query.heads),
      node.i64("kv_heads", spec.key.heads),
      node.flag("causal", spec.causal),
      node.i64s("window", {spec.left, spec.right}),
      node.named("q_layout", b.getStringAttr(spec.query.layout())),
      node.named("k_layout", b.getStringAttr(spec.key.layout())),
      node.named("v_layout", b.getStringAttr(spec.value.layout())),
      node.named("result_layout", b.getStringAttr(spec.isResultMerged ? "BSND" : "BNSD"))};
  if (spec.offset)
    attributes.push_back(node.i64("offset", *spec.offset));
  return node.create<top::AttentionOp>(name, operands, attributes);
}

namespace {

// An attention of other top ops, in f32.
class Spelled {
public:
  Spelled(Node &node, const AttentionSpec &spec)
      : node(node), spec(spec), f(node), f32(node.builder().getF32Type()), rows(spec.query.rows()),
        keys(spec.key.rows()) {}

  std::pair<Value, Value> build(StringRef name, StringRef scoresName, ScoresAt at) {
    Type element = typeOf(spec.query.value).getElementType();
    Value score = products(), chosen = score;
    if (spec.softcap != 0)
      score = f.of<top::MulOp>(f.of<top::TanhOp>(f.of<top::MulOp>(score, 1 / spec.softcap)), spec.softcap);
    if (at == ScoresAt::softcap)
      chosen = score;
    for (Value more : {castTo(node, spec.bias, f32), mask()})
      if (more)
        score = f.of<top::AddOp>(score, more);
    if (at == ScoresAt::bias)
      chosen = score;
    // A row of minus infinities has weights of 0.
    Value greatest = f.of<top::MaxOp>(f.over<top::ReduceMaxOp>(score, {3}), -std::numeric_limits<float>::max());
    Value exponentials = f.of<top::ExpOp>(f.of<top::SubOp>(score, greatest));
    Value sum = f.of<top::MaxOp>(f.over<top::ReduceSumOp>(exponentials, {3}), 0.5);
    Value weights = f.of<top::DivOp>(exponentials, sum);
    if (at == ScoresAt::softmax)
      chosen = weights;
    return {result(name, castTo(node, weights, element)), named(scoresName, castTo(node, chosen, element))};
  }

private:
  // `value` under a name of its own.
  Value named(StringRef name, Value value) {
    return value ? node.create<top::ReshapeOp>(name, value, {node.i64s("shape", typeOf(value).getShape())}) : value;
  }

  // Rows of query heads that share a key are stacked.
  Value stacked(Value value, int64_t columns) {
    int64_t groups = spec.key.heads;
    return value ? node.reshape("", value, {spec.query.batch(), groups, spec.query.heads / groups * rows, columns})
                 : value;
  }

  Value products() {
    Value query = castTo(node, splitHeads(node, spec.query).value, f32),
          key = castTo(node, splitHeads(node, spec.key).value, f32);
    Value product =
        node.create<top::MatMulOp>("", {stacked(query, spec.query.depth()), key}, {node.flag("transpose_b", true)});
    product = product ? node.reshape("", product, {spec.query.batch(), spec.query.heads, rows, keys}) : product;
    return f.of<top::MulOp>(product, spec.scale);
  }

  Value result(StringRef name, Value weights) {
    Value value = splitHeads(node, spec.value).value;
    Value sums = node.create<top::MatMulOp>("", {stacked(weights, keys), value});
    int64_t heads = spec.query.heads, depth = spec.value.depth(), batch = spec.query.batch();
    if (!sums || !spec.isResultMerged)
      return sums ? node.create<top::ReshapeOp>(name, sums, {node.i64s("shape", {batch, heads, rows, depth})}) : sums;
    sums = node.reshape("", sums, {batch, heads, rows, depth});
    sums = node.create<top::PermuteOp>("", sums, {node.i64s("perm", {0, 2, 1, 3})});
    return sums ? node.create<top::ReshapeOp>(name, sums, {node.i64s("shape", {batch, rows, heads * depth})}) : sums;
  }

  Value numbers(int64_t count, int64_t first, ArrayRef<int64_t> shape) {
    std::vector<double> list(count);
    std::iota(list.begin(), list.end(), static_cast<double>(first));
    return floats(node, shape, list);
  }

  // The numbers of keys at `distance` from the positions of the rows.
  Value positions(int64_t distance) {
    if (spec.offset || !spec.lengths)
      return numbers(rows, spec.offset.value_or(keys - rows) + distance, {rows, 1});
    return f.of<top::AddOp>(lengths(), numbers(rows, distance - rows, {rows, 1}));
  }

  Value lengths() { return node.reshape("", castTo(node, spec.lengths, f32), {spec.query.batch(), 1, 1, 1}); }

  // 0 for the keys that a row sees, minus infinity for others; null when it sees all.
  Value mask() {
    Value key = numbers(keys, 0, {keys}), hidden;
    auto hide = [&](Value small, Value large) {
      Value less =
          node.create<top::CompareOp>("", {small, large}, {node.named("mode", node.builder().getStringAttr("lt"))});
      hidden = hidden ? f.of<top::OrOp>(hidden, less) : less;
    };
    if (spec.lengths)
      hide(f.of<top::SubOp>(lengths(), 1), key);
    if (spec.causal)
      hide(positions(0), key);
    if (spec.left >= 0)
      hide(key, positions(-spec.left));
    if (spec.right >= 0)
      hide(positions(spec.right), key);
    return hidden ? node.create<top::WhereOp>(
                        "", {hidden, f.constant(key, -std::numeric_limits<double>::infinity()), f.constant(key, 0)})
                  : Value();
  }

  Node &node;
  const AttentionSpec &spec;
  Formula f;
  Type f32;
  int64_t rows, keys;
};

} // namespace

std::pair<Value, Value> buildAttentionWithScores(Node &node, StringRef name, StringRef scores,
                                                 const AttentionSpec &spec, ScoresAt at) {
  return Spelled(node, spec).build(name, scores, at);
}

//===-- Rotation ----------------------------------------------------------===//

Value rotate(Node &node, StringRef name, HeadTensor tensor, Value cosine, Value sine, int64_t rotated,
             bool interleaved) {
  if (!tensor.value || !cosine || !sine)
    return {};
  Formula f(node);
  RankedTensorType type = typeOf(tensor.value);
  int64_t batch = tensor.batch(), rows = tensor.rows(), heads = tensor.heads, depth = tensor.depth();
  int64_t half = rotated / 2, angles = typeOf(cosine).getDimSize(0);
  Value x = tensor.isMerged ? node.reshape("", tensor.value, {batch, rows, heads, depth}) : tensor.value;
  SmallVector<int64_t> outer(typeOf(x).getShape().drop_back());
  SmallVector<int64_t> angleShape =
      tensor.isMerged ? SmallVector<int64_t>{angles, rows, 1, half} : SmallVector<int64_t>{angles, 1, rows, half};
  Type element = type.getElementType();
  Value cos = node.reshape("", castTo(node, cosine, element), angleShape),
        sin = node.reshape("", castTo(node, sine, element), angleShape);
  Value turned = sliceDim(node, x, 3, 0, rotated), first, second;
  SmallVector<int64_t> column(outer);
  column.push_back(half);
  if (interleaved) {
    SmallVector<int64_t> pairs(column);
    pairs.push_back(2);
    turned = node.reshape("", turned, pairs);
    first = sliceDim(node, turned, 4, 0, 1), second = sliceDim(node, turned, 4, 1, 2);
    first = first ? node.reshape("", first, column) : first;
    second = second ? node.reshape("", second, column) : second;
  } else {
    first = sliceDim(node, turned, 3, 0, half), second = sliceDim(node, turned, 3, half, rotated);
  }
  Value real = f.of<top::SubOp>(f.of<top::MulOp>(first, cos), f.of<top::MulOp>(second, sin)),
        imaginary = f.of<top::AddOp>(f.of<top::MulOp>(first, sin), f.of<top::MulOp>(second, cos));
  if (!real || !imaginary)
    return {};
  bool isRest = rotated < depth, isLast = !isRest && !tensor.isMerged;
  Value joined;
  if (interleaved) {
    column.push_back(1);
    joined = concatenate(node, "", {node.reshape("", real, column), node.reshape("", imaginary, column)}, 4);
    outer.push_back(rotated);
    joined = joined ? node.create<top::ReshapeOp>(isLast ? name : "", joined, {node.i64s("shape", outer)}) : joined;
  } else {
    joined = concatenate(node, isLast ? name : "", {real, imaginary}, 3);
  }
  if (isRest)
    joined = concatenate(node, tensor.isMerged ? "" : name, {joined, sliceDim(node, x, 3, rotated, depth)}, 3);
  if (!joined || !tensor.isMerged)
    return joined;
  return node.create<top::ReshapeOp>(name, joined, {node.i64s("shape", type.getShape())});
}

//===-- Rows of a cache ---------------------------------------------------===//

namespace {

// More rows are written by a product with a matrix of ones and zeros; fewer one after the other.
constexpr int64_t kMostSingleRows = 16;

// Where the rows of an update go: comparisons of the cache's row numbers with their places.
class Places {
public:
  Places(Node &node, Value first, int64_t batch, int64_t size, bool circular)
      : node(node), f(node), batch(batch), size(size), circular(circular),
        first(first ? node.reshape("", first, {batch, 1, 1, 1}) : floats(node, {1, 1, 1, 1}, {0.0})) {}

  Value compare(Value a, Value b, StringRef mode) {
    return node.create<top::CompareOp>("", {a, b}, {node.named("mode", node.builder().getStringAttr(mode))});
  }

  // Whether a row of the cache, [size, 1], is the place of the update's row `number` (any shape that broadcasts).
  Value isPlace(Value number) {
    Value at = f.of<top::AddOp>(first, number), row = numbers(size, {size, 1});
    Value same = compare(row, at, "eq");
    return circular ? f.of<top::OrOp>(same, compare(row, f.of<top::SubOp>(at, static_cast<double>(size)), "eq")) : same;
  }

  Value numbers(int64_t count, ArrayRef<int64_t> shape) {
    std::vector<double> list(count);
    std::iota(list.begin(), list.end(), 0.0);
    return floats(node, shape, list);
  }

private:
  Node &node;
  Formula f;
  int64_t batch, size;
  bool circular;
  Value first;
};

} // namespace

Value writeRows(Node &node, StringRef name, Value cache, Value update, Value first, int64_t axis, bool circular) {
  if (!cache || !update)
    return {};
  Formula f(node);
  ArrayRef<int64_t> shape = typeOf(cache).getShape();
  int64_t size = shape[axis], rows = typeOf(update).getDimSize(axis), batch = axis > 0 ? shape[0] : 1;
  Type element = typeOf(cache).getElementType();
  // [batch, outer, rows, inner] of any rank.
  int64_t outer = axis > 0 ? ShapedType::getNumElements(shape.slice(1, axis - 1)) : 1;
  int64_t inner = ShapedType::getNumElements(shape.drop_front(axis + 1));
  Value before = node.reshape("", cache, {batch, outer, size, inner}),
        added = node.reshape("", update, {batch, outer, rows, inner});
  Places places(node, first, batch, size, circular);
  Value result = before;
  if (rows <= kMostSingleRows || !isa<FloatType>(element)) {
    for (int64_t row = 0; row < rows && result; ++row) {
      Value place = places.isPlace(floats(node, {1, 1, 1, 1}, {static_cast<double>(row)}));
      result = node.create<top::WhereOp>("", {place, sliceDim(node, added, 2, row, row + 1), result});
    }
  } else {
    Value matrix = castTo(node, places.isPlace(places.numbers(rows, {1, rows})), element);
    Value written = f.over<top::ReduceMaxOp>(matrix, {3});
    Value moved = node.create<top::MatMulOp>("", {matrix, added});
    Value isWritten = written ? places.compare(written, f.constant(written, 0.5), "gt") : written;
    result = node.create<top::WhereOp>("", {isWritten, moved, result});
  }
  return result ? node.create<top::ReshapeOp>(name, result, {node.i64s("shape", shape)}) : result;
}

} // namespace pto_mlir::onnx
