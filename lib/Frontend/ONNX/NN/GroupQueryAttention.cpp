// GroupQueryAttention of com.microsoft: heads of K and V that are shared, a rotation, a cache.
#include "../Composite.h"
#include "../Registry.h"
#include "AttentionParts.h"
#include "pto_mlir/Support/ElementType.h"

using namespace mlir;

namespace pto_mlir::onnx {
namespace group_query {
namespace {

enum Input {
  kQuery,
  kKey,
  kValue,
  kPastKey,
  kPastValue,
  kLast,
  kTotal,
  kCosine,
  kSine,
  kPositions,
  kScores,
  kSinks,
  kKeyScale,
  kValueScale
};

bool readGroups(Node &node, AttentionSpec &spec) {
  int64_t heads = node.intAttr("num_heads", 0), kvHeads = node.intAttr("kv_num_heads", 0);
  ArrayRef<int64_t> shape = node.type(kQuery).getShape();
  constexpr int64_t kMostHeads = 1 << 20;
  bool fits = heads > 0 && kvHeads > 0 && heads <= kMostHeads && kvHeads <= kMostHeads && shape.size() == 3 &&
              node.has(kKey) == node.has(kValue);
  int64_t parts = node.has(kKey) ? heads : heads + 2 * kvHeads;
  for (unsigned input : {kKey, kValue})
    fits = fits &&
           (!node.has(input) || (node.type(input).getRank() == 3 && node.type(input).getDimSize(2) % kvHeads == 0));
  if (!fits || shape[2] % parts) {
    (void)node.error("takes a query [batch, rows, heads * depth], with key and value or with both packed behind it");
    return false;
  }
  if (node.has(kKey)) {
    spec.query = {node.input(kQuery), heads, true};
    spec.key = {node.input(kKey), kvHeads, true};
    spec.value = {node.input(kValue), kvHeads, true};
    return true;
  }
  int64_t depth = shape[2] / parts, first = heads * depth, second = first + kvHeads * depth;
  spec.query = {sliceDim(node, node.input(kQuery), 2, 0, first), heads, true};
  spec.key = {sliceDim(node, node.input(kQuery), 2, first, second), kvHeads, true};
  spec.value = {sliceDim(node, node.input(kQuery), 2, second, shape[2]), kvHeads, true};
  return spec.query.value && spec.key.value && spec.value.value;
}

class Groups {
public:
  explicit Groups(Node &node) : node(node), f(node) {}

  LogicalResult run() {
    if (!readGroups(node, spec) || failed(readCache()))
      return failure();
    if (node.intAttr("do_rotary", 0) != 0 && failed(rotateBoth()))
      return failure();
    spec.scale = scaleOf(node, spec.query);
    spec.softcap = node.floatAttr("softcap", 0);
    spec.causal = true;
    int64_t window = node.intAttr("local_window_size", -1); // keys that a row sees, its own with them
    spec.left = window > 0 ? window - 1 : -1;
    if (failed(readOptions()))
      return failure();
    spec.key = cached(spec.key, kPastKey, 1);
    spec.value = cached(spec.value, kPastValue, 2);
    if (!spec.key.value || !spec.value.value)
      return failure();
    spec.lengths = castTo(node, lengths, node.builder().getI32Type());
    if (isPrompt)
      spec.offset = 0;
    return spec.lengths ? finishAttention(node, spec) : failure();
  }

private:
  // Where the rows go: lengths and first rows, in i32 of [batch].
  LogicalResult readCache() {
    rows = spec.query.rows(), batch = spec.query.batch();
    if (!node.has(kLast) || !node.has(kTotal))
      return node.error("lacks seqlens_k or total_sequence_length");
    if (node.type(kLast).getNumElements() != batch)
      return node.error("takes one number in seqlens_k per batch (" + Twine(batch) + ")");
    std::optional<SmallVector<int64_t>> count = node.ints(kTotal, "total_sequence_length");
    if (!count || count->size() != 1)
      return node.hasErrors() ? failure() : node.error("total_sequence_length must be one number");
    total = count->front();
    if (!areCountable(node, total) || !hasRank(node, kPastKey, 4, "past_key") ||
        !hasRank(node, kPastValue, 4, "past_value"))
      return failure();
    past = node.has(kPastKey) ? node.type(kPastKey).getDimSize(2) : 0;
    if (node.has(kPastKey) != node.has(kPastValue) || total < rows || (!past && total != rows))
      return node.error("a total of " + Twine(total) + " rows does not fit " + Twine(rows) +
                        " new ones and a past of " + Twine(past));
    isPrompt = total == rows;
    Value last = node.reshape("", castTo(node, node.input(kLast), node.builder().getI32Type()), {batch});
    lengths = f.of<top::AddOp>(last, 1);
    if (!isPrompt)
      first = f.of<top::SubOp>(lengths, static_cast<double>(rows));
    return success(lengths != nullptr && (isPrompt || first));
  }

  LogicalResult readOptions() {
    if (node.intAttr("qk_output", 0) != 0 || failed(refuseOutput(node, 3)))
      return node.hasErrors() ? failure() : node.error("attribute 'qk_output' is not supported");
    for (StringRef name : {"k_quant_type", "v_quant_type"})
      if (node.stringAttr(name, "NONE") != "NONE")
        return node.error("a quantised cache is not supported");
    node.intAttr("kv_cache_bit_width", 0);
    if (node.has(kKeyScale) || node.has(kValueScale))
      return node.error("a quantised cache is not supported");
    if (node.has(kScores))
      spec.bias = node.input(kScores);
    if (node.has(kSinks))
      spec.sinks = node.input(kSinks);
    else if (node.intAttr("smooth_softmax", 0) > 0)
      spec.sinks = floats(node, {spec.query.heads}, SmallVector<double>(spec.query.heads, 0.0));
    node.intAttr("smooth_softmax", 0);
    return success();
  }

  LogicalResult rotateBoth() {
    bool interleaved = node.intAttr("rotary_interleaved", 0) != 0;
    if (!node.has(kCosine) || !node.has(kSine))
      return node.error("'do_rotary' needs cos_cache and sin_cache");
    ArrayRef<int64_t> table = node.type(kCosine).getShape();
    if (table.size() != 2 || table != node.type(kSine).getShape() || 2 * table[1] > spec.query.depth())
      return node.error("cannot rotate " + Twine(spec.query.depth()) + " columns by tables of " +
                        pto_mlir::shapeText(table) + " and " + pto_mlir::shapeText(node.type(kSine).getShape()));
    Value positions;
    if (node.has(kPositions)) {
      positions = node.input(kPositions);
    } else {
      Value steps = counting(node, rows, {1, rows});
      positions = first ? f.of<top::AddOp>(node.reshape("", first, {batch, 1}), steps) : steps;
    }
    auto angles = [&](unsigned input) {
      return node.create<top::GatherOp>("", {node.input(input), positions}, {node.i64("axis", 0)});
    };
    Value cosine = angles(kCosine), sine = angles(kSine);
    int64_t rotated = 2 * node.type(kCosine).getShape().back();
    for (HeadTensor *tensor : {&spec.query, &spec.key})
      if (!(tensor->value = rotate(node, "", *tensor, cosine, sine, rotated, interleaved)))
        return failure();
    return success();
  }

  // The cache with the new rows; also an output.
  HeadTensor cached(HeadTensor tensor, unsigned input, unsigned output) {
    StringRef name = node.outputName(output);
    int64_t size = std::max(past, total);
    tensor = splitHeads(node, tensor, size == rows ? name : "");
    if (!tensor.value)
      return tensor;
    if (size > rows) {
      Value cache = node.input(input);
      SmallVector<int64_t> pads(8, 0);
      pads[6] = size - past;
      if (size > past)
        cache = node.create<top::PadOp>("", cache, {node.i64s("pads", pads), node.f64("value", 0)});
      tensor.value = writeRows(node, name, cache, tensor.value, first, 2, false);
    }
    if (tensor.value && node.wantsOutput(output))
      node.set(output, tensor.value);
    return tensor;
  }

  Node &node;
  Formula f;
  AttentionSpec spec;
  Value lengths, first; ///< `first` is null for 0
  int64_t rows = 0, batch = 0, past = 0, total = 0;
  bool isPrompt = false;
};

LogicalResult importGroupQuery(Node &node) { return Groups(node).run(); }

} // namespace
} // namespace group_query

void registerGroupQueryAttention(Registry &registry) {
  registry.add("com.microsoft.GroupQueryAttention", {1, 1, 1, 14, group_query::importGroupQuery});
}

} // namespace pto_mlir::onnx
