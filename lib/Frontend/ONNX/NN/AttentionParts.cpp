#include "AttentionParts.h"

#include "../Composite.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;

namespace pto_mlir::onnx {

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

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

bool areCountable(Node &node, int64_t rows) {
  constexpr int64_t kMost = int64_t(1) << 24;
  if (rows > kMost)
    (void)node.error("has " + Twine(rows) + " rows, at most " + Twine(kMost) + " are supported");
  return rows <= kMost;
}

bool hasRank(Node &node, unsigned i, int64_t rank, StringRef what) {
  if (!node.has(i) || node.type(i).getRank() == rank)
    return true;
  (void)node.error(what + " has rank " + Twine(node.type(i).getRank()) + ", expects " + Twine(rank));
  return false;
}

Value floats(Node &node, ArrayRef<int64_t> shape, ArrayRef<double> numbers) {
  OpBuilder &b = node.builder();
  Type f32 = b.getF32Type();
  return top::createConstant(b, b.getUnknownLoc(), (node.outputName() + "_numbers").str(),
                             RankedTensorType::get(shape, f32), top::fromDoubles(f32, numbers));
}

Value counting(Node &node, int64_t count, ArrayRef<int64_t> shape, int64_t first) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  OpBuilder &b = node.builder();
  Type i32 = b.getI32Type();
  return top::createConstant(b, b.getUnknownLoc(), (node.outputName() + "_numbers").str(),
                             RankedTensorType::get(shape, i32), top::fromInts(i32, numbers));
}

HeadTensor splitHeads(Node &node, HeadTensor tensor, StringRef name) {
  if (!tensor.value || !tensor.isMerged)
    return tensor;
  Value rows = node.reshape("", tensor.value, {tensor.batch(), tensor.rows(), tensor.heads, tensor.depth()});
  return {node.create<top::PermuteOp>(name, rows, {node.i64s("perm", {0, 2, 1, 3})}), tensor.heads, false};
}

Value buildAttention(Node &node, StringRef name, const AttentionSpec &spec) {
  if (Formula::isDouble(spec.query.value)) // by the host, step by step
    return buildAttentionWithScores(node, name, "", spec, ScoresAt::softmax).first;
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

LogicalResult finishAttention(Node &node, AttentionSpec &spec) {
  spec.isResultMerged = true;
  return node.finish(buildAttention(node, node.outputName(), spec));
}

LogicalResult refuseOutput(Node &node, unsigned i) {
  return node.wantsOutput(i) ? node.error("output '" + node.outputName(i) + "' (scores) is not supported") : success();
}

double scaleOf(Node &node, const HeadTensor &query) {
  double scale = node.floatAttr("scale", 0);
  return scale == 0 ? 1 / std::sqrt(static_cast<double>(query.depth())) : scale;
}

namespace {

// An attention of other top ops, in f32.
class Spelled {
public:
  Spelled(Node &node, const AttentionSpec &spec)
      : node(node), spec(spec), f(node),
        number(Formula::isDouble(spec.query.value) ? node.builder().getF64Type() : node.builder().getF32Type()),
        rows(spec.query.rows()), keys(spec.key.rows()) {}

  std::pair<Value, Value> build(StringRef name, StringRef scoresName, ScoresAt at) {
    Type element = typeOf(spec.query.value).getElementType();
    Value score = products(), chosen = score;
    if (spec.softcap != 0)
      score = f.of<top::MulOp>(f.of<top::TanhOp>(f.of<top::MulOp>(score, 1 / spec.softcap)), spec.softcap);
    if (at == ScoresAt::softcap)
      chosen = score;
    for (Value more : {castTo(node, spec.bias, number), mask()})
      if (more)
        score = f.of<top::AddOp>(score, more);
    if (at == ScoresAt::bias)
      chosen = score;
    // A row of minus infinities has weights of 0.
    double least = number.isF64() ? std::numeric_limits<double>::lowest() : std::numeric_limits<float>::lowest();
    Value greatest = f.of<top::MaxOp>(f.over<top::ReduceMaxOp>(score, {3}), least);
    Value exponentials = f.of<top::ExpOp>(f.of<top::SubOp>(score, greatest));
    Value sum = f.of<top::MaxOp>(f.over<top::ReduceSumOp>(exponentials, {3}), 0.5);
    Value weights = f.of<top::DivOp>(exponentials, sum);
    if (at == ScoresAt::softmax)
      chosen = weights;
    Value scores = scoresName.empty() ? Value() : named(scoresName, castTo(node, chosen, element));
    return {result(name, castTo(node, weights, element)), scores};
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
    Value query = castTo(node, splitHeads(node, spec.query).value, number),
          key = castTo(node, splitHeads(node, spec.key).value, number);
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

  // The numbers of keys at `distance` from the positions of the rows.
  Value positions(int64_t distance) {
    if (spec.offset || !spec.lengths)
      return counting(node, rows, {rows, 1}, spec.offset.value_or(keys - rows) + distance);
    return f.of<top::AddOp>(lengths(), counting(node, rows, {rows, 1}, distance - rows));
  }

  Value lengths() { return node.reshape("", spec.lengths, {spec.query.batch(), 1, 1, 1}); }

  // 0 for the keys that a row sees, minus infinity for others; null when it sees all.
  Value mask() {
    Value key = counting(node, keys, {keys}), hidden;
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
    if (!hidden)
      return {};
    double infinity = std::numeric_limits<double>::infinity();
    return node.create<top::WhereOp>("", {hidden, castTo(node, floats(node, {}, {-infinity}), number),
                                          castTo(node, floats(node, {}, {0.0}), number)});
  }

  Node &node;
  const AttentionSpec &spec;
  Formula f;
  Type number; // of the scores
  int64_t rows, keys;
};

} // namespace

std::pair<Value, Value> buildAttentionWithScores(Node &node, StringRef name, StringRef scores,
                                                 const AttentionSpec &spec, ScoresAt at) {
  return Spelled(node, spec).build(name, scores, at);
}

} // namespace pto_mlir::onnx
