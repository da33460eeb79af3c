// MultiHeadAttention, GroupQueryAttention and Attention of com.microsoft.
#include "../Composite.h"
#include "../Registry.h"
#include "AttentionParts.h"
#include "pto_mlir/Support/ElementType.h"

#include <cmath>

using namespace mlir;

namespace pto_mlir::onnx {
namespace contrib {
namespace {

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

Value compare(Node &node, Value a, Value b, StringRef mode) {
  return node.create<top::CompareOp>("", {a, b}, {node.named("mode", node.builder().getStringAttr(mode))});
}

Value counting(Node &node, int64_t count, ArrayRef<int64_t> shape) {
  std::vector<double> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  return floats(node, shape, numbers);
}

// What a mask of integers adds to the scores: 0, or `hidden` for keys that it hides. Forms: [batch] the number of keys,
// [2 * batch] ends and begins, [batch, keys], [batch, queries, keys]. Null after an error.
Value readMask(Node &node, unsigned input, int64_t batch, int64_t queries, int64_t keys, double hidden, Type element) {
  Formula f(node);
  Value mask = node.input(input), isHidden;
  ArrayRef<int64_t> shape = shapeOf(mask);
  Type f32 = node.builder().getF32Type();
  Value zero = floats(node, {}, {0.0});
  if (shape.size() == 1 && (shape[0] == batch || shape[0] == 2 * batch)) {
    Value numbers = castTo(node, mask, f32), key = counting(node, keys, {keys});
    Value ends = node.reshape("", sliceDim(node, numbers, 0, 0, batch), {batch, 1, 1, 1});
    isHidden = compare(node, key, ends, "ge");
    if (shape[0] == 2 * batch) {
      Value begins = node.reshape("", sliceDim(node, numbers, 0, batch, 2 * batch), {batch, 1, 1, 1});
      isHidden = f.of<top::OrOp>(isHidden, compare(node, key, begins, "lt"));
    }
  } else if (shape == ArrayRef<int64_t>{batch, keys} || shape == ArrayRef<int64_t>{batch, queries, keys}) {
    Value wide = node.reshape("", mask, {batch, 1, shape.size() == 2 ? 1 : queries, keys});
    isHidden = wide ? compare(node, wide, castTo(node, zero, node.type(input).getElementType()), "eq") : wide;
  } else {
    (void)node.error("a mask of shape " + pto_mlir::shapeText(shape) + " is not supported for " + Twine(batch) +
                     " batches of " + Twine(keys) + " keys");
    return {};
  }
  Value number = floats(node, {}, {hidden});
  return node.create<top::WhereOp>("", {isHidden, castTo(node, number, element), castTo(node, zero, element)});
}

// Adds the mask of integers to the given bias of the scores.
LogicalResult readBias(Node &node, AttentionSpec &spec, std::optional<unsigned> mask, unsigned bias) {
  Type element = getElementTypeOrSelf(spec.query.value.getType());
  double hidden = node.floatAttr("mask_filter_value", -10000);
  if (node.has(bias))
    spec.bias = node.input(bias);
  if (!mask || !node.has(*mask))
    return success();
  Value hides = readMask(node, *mask, spec.query.batch(), spec.query.rows(), spec.key.rows(), hidden, element);
  if (hides && spec.bias)
    hides = node.create<top::AddOp>("", {hides, spec.bias});
  spec.bias = hides;
  return success(hides != nullptr);
}

LogicalResult finishAttention(Node &node, AttentionSpec &spec) {
  spec.isResultMerged = true;
  return node.finish(buildAttention(node, node.outputName(), spec));
}

LogicalResult refuseOutput(Node &node, unsigned i) {
  return node.wantsOutput(i) ? node.error("output '" + node.outputName(i) + "' (scores) is not supported") : success();
}

double defaultScale(const HeadTensor &query) { return 1 / std::sqrt(static_cast<double>(query.depth())); }

//===-- MultiHeadAttention ------------------------------------------------===//

namespace mha {
enum Input { kQuery, kKey, kValue, kBias, kMask, kScores, kPastKey, kPastValue };
}

// Part `i` of a packed [batch, rows, heads, parts, depth] as [batch, rows, heads * depth].
HeadTensor unpacked(Node &node, unsigned input, int64_t i, int64_t heads) {
  ArrayRef<int64_t> shape = node.type(input).getShape();
  Value part = sliceDim(node, node.input(input), 3, i, i + 1);
  return {part ? node.reshape("", part, {shape[0], shape[1], heads * shape[4]}) : part, heads, true};
}

bool isPacked(Node &node, unsigned input, int64_t heads, int64_t parts) {
  ArrayRef<int64_t> shape = node.type(input).getShape();
  return shape.size() == 5 && shape[2] == heads && shape[3] == parts;
}

bool readPacked(Node &node, AttentionSpec &spec, int64_t heads) {
  using namespace mha;
  auto plain = [&](unsigned input) -> HeadTensor {
    if (!node.has(input))
      return {};
    ArrayRef<int64_t> shape = node.type(input).getShape();
    bool isSplit = shape.size() == 4 && shape[1] == heads;
    if (!isSplit && (shape.size() != 3 || shape[2] % heads))
      return {};
    return {node.input(input), heads, !isSplit};
  };
  if (isPacked(node, kQuery, heads, 3)) {
    spec.query = unpacked(node, kQuery, 0, heads);
    spec.key = unpacked(node, kQuery, 1, heads);
    spec.value = unpacked(node, kQuery, 2, heads);
  } else if (node.has(kKey) && isPacked(node, kKey, heads, 2)) {
    spec.query = plain(kQuery);
    spec.key = unpacked(node, kKey, 0, heads);
    spec.value = unpacked(node, kKey, 1, heads);
  } else {
    spec.query = plain(kQuery), spec.key = plain(kKey), spec.value = plain(kValue);
  }
  if (spec.query.value && spec.key.value && spec.value.value)
    return true;
  (void)node.error(
      "query, key and value are neither [batch, rows, heads * depth] nor packed as [batch, rows, heads, 3 or "
      "2, depth]");
  return false;
}

// Adds the part of the bias from column `begin` on; returns its end.
int64_t addColumns(Node &node, HeadTensor &tensor, unsigned bias, int64_t begin) {
  int64_t width = tensor.heads * tensor.depth();
  if (tensor.isMerged && tensor.value) // K and V that come as heads have theirs
    tensor.value =
        node.create<top::AddOp>("", {tensor.value, sliceDim(node, node.input(bias), 0, begin, begin + width)});
  return begin + width;
}

HeadTensor withPast(Node &node, HeadTensor tensor, Value past, StringRef name) {
  tensor = splitHeads(node, tensor, past ? StringRef() : name);
  if (past && tensor.value)
    tensor.value = concatenate(node, name, {past, tensor.value}, 2);
  return tensor;
}

LogicalResult importMultiHead(Node &node) {
  using namespace mha;
  AttentionSpec spec;
  int64_t heads = node.intAttr("num_heads", 0);
  if (heads < 1)
    return node.error("attribute 'num_heads' must be positive");
  for (unsigned input : {8u, 9u}) // for a cache of fixed size
    if (node.has(input))
      return node.error("input " + Twine(input) + " (a cache of fixed size) is not supported");
  if (!readPacked(node, spec, heads) || failed(refuseOutput(node, 3)))
    return failure();
  if (node.has(kBias)) {
    int64_t columns = addColumns(node, spec.query, kBias, 0);
    columns = addColumns(node, spec.key, kBias, columns);
    addColumns(node, spec.value, kBias, columns);
  }
  if (node.has(kPastKey) != node.has(kPastValue))
    return node.error("has one of past_key and past_value, but not the other");
  if (!spec.query.value || !spec.key.value || !spec.value.value)
    return failure();
  int64_t past = node.has(kPastKey) ? node.type(kPastKey).getDimSize(2) : 0;
  if (past || node.wantsOutput(1) || node.wantsOutput(2)) {
    spec.key = withPast(node, spec.key, past ? node.input(kPastKey) : Value(), node.outputName(1));
    spec.value = withPast(node, spec.value, past ? node.input(kPastValue) : Value(), node.outputName(2));
    if (!spec.key.value || !spec.value.value)
      return failure();
    if (node.wantsOutput(1))
      node.set(1, spec.key.value);
    if (node.wantsOutput(2))
      node.set(2, spec.value.value);
  }
  spec.scale = node.floatAttr("scale", 0);
  if (spec.scale == 0)
    spec.scale = defaultScale(spec.query);
  spec.causal = node.intAttr("unidirectional", 0) != 0;
  spec.offset = past;
  if (failed(readBias(node, spec, kMask, kScores)))
    return failure();
  return finishAttention(node, spec);
}

//===-- Attention: the projections are its own ------------------------------===//

LogicalResult importProjected(Node &node) {
  enum Input { kInput, kWeights, kBias, kMask, kPast, kScores, kPastLength };
  AttentionSpec spec;
  int64_t heads = node.intAttr("num_heads", 0);
  if (heads < 1 || node.type(kInput).getRank() != 3 || node.type(kWeights).getRank() != 2)
    return node.error("takes a positive 'num_heads', an input of rank 3 and weights of rank 2");
  if (node.intAttr("do_rotary", 0) != 0 || node.intAttr("past_present_share_buffer", 0) != 0 || node.has(kPastLength))
    return node.error("rotation and a cache of fixed size are not supported");
  node.intAttr("rotary_embedding_dim", 0);
  SmallVector<Value> operands{node.input(kInput), node.input(kWeights)};
  if (node.has(kBias))
    operands.push_back(node.input(kBias));
  Value all = node.create<top::MatMulOp>("", operands);
  if (!all)
    return failure();
  int64_t columns = shapeOf(all)[2];
  SmallVector<int64_t> sizes = node.intsAttr("qkv_hidden_sizes").value_or(SmallVector<int64_t>(3, columns / 3));
  if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != columns ||
      llvm::any_of(sizes, [&](int64_t size) { return size < 1 || size % heads; }))
    return node.error("cannot divide " + Twine(columns) + " columns into queries, keys and values of " + Twine(heads) +
                      " heads");
  spec.query = {sliceDim(node, all, 2, 0, sizes[0]), heads, true};
  spec.key = {sliceDim(node, all, 2, sizes[0], sizes[0] + sizes[1]), heads, true};
  spec.value = {sliceDim(node, all, 2, sizes[0] + sizes[1], columns), heads, true};
  int64_t past = node.has(kPast) ? node.type(kPast).getDimSize(3) : 0;
  if (past || node.wantsOutput(1)) {
    SmallVector<Value> presents;
    for (HeadTensor *tensor : {&spec.key, &spec.value}) {
      int64_t i = tensor == &spec.value;
      Value before = past ? sliceDim(node, node.input(kPast), 0, i, i + 1) : Value();
      if (before)
        before = node.reshape("", before, shapeOf(before).drop_front());
      *tensor = withPast(node, *tensor, before, "");
      if (!tensor->value)
        return failure();
      SmallVector<int64_t> shape{1};
      llvm::append_range(shape, shapeOf(tensor->value));
      presents.push_back(node.reshape("", tensor->value, shape));
    }
    if (node.wantsOutput(1)) {
      Value present = concatenate(node, node.outputName(1), presents, 0);
      if (!present)
        return failure();
      node.set(1, present);
    }
  }
  spec.scale = node.floatAttr("scale", 0);
  if (spec.scale == 0)
    spec.scale = defaultScale(spec.query);
  spec.causal = node.intAttr("unidirectional", 0) != 0;
  spec.offset = past;
  if (failed(readBias(node, spec, kMask, kScores)))
    return failure();
  return finishAttention(node, spec);
}

//===-- GroupQueryAttention -----------------------------------------------===//

namespace gqa {
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
}

bool readGroups(Node &node, AttentionSpec &spec) {
  using namespace gqa;
  int64_t heads = node.intAttr("num_heads", 0), kvHeads = node.intAttr("kv_num_heads", 0);
  ArrayRef<int64_t> shape = node.type(kQuery).getShape();
  int64_t parts = node.has(kKey) ? heads : heads + 2 * kvHeads;
  if (heads < 1 || kvHeads < 1 || shape.size() != 3 || shape[2] % parts || node.has(kKey) != node.has(kValue)) {
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
    using namespace gqa;
    if (!readGroups(node, spec) || failed(readCache()))
      return failure();
    if (node.intAttr("do_rotary", 0) != 0 && failed(rotateBoth()))
      return failure();
    spec.scale = node.floatAttr("scale", 0);
    if (spec.scale == 0)
      spec.scale = defaultScale(spec.query);
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
  // Where the rows go: lengths and first rows, in f32 of [batch].
  LogicalResult readCache() {
    using namespace gqa;
    rows = spec.query.rows(), batch = spec.query.batch();
    if (!node.has(kLast) || !node.has(kTotal))
      return node.error("lacks seqlens_k or total_sequence_length");
    if (node.type(kLast).getNumElements() != batch)
      return node.error("takes one number in seqlens_k per batch (" + Twine(batch) + ")");
    std::optional<SmallVector<int64_t>> count = node.ints(kTotal, "total_sequence_length");
    if (!count || count->size() != 1)
      return node.hasErrors() ? failure() : node.error("total_sequence_length must be one number");
    total = count->front();
    past = node.has(kPastKey) ? node.type(kPastKey).getDimSize(2) : 0;
    if (node.has(kPastKey) != node.has(kPastValue) || total < rows || (!past && total != rows))
      return node.error("a total of " + Twine(total) + " rows does not fit " + Twine(rows) +
                        " new ones and a past of " + Twine(past));
    isPrompt = total == rows;
    Value last = node.reshape("", castTo(node, node.input(kLast), node.builder().getF32Type()), {batch});
    lengths = f.of<top::AddOp>(last, 1);
    if (!isPrompt)
      first = f.of<top::SubOp>(lengths, static_cast<double>(rows));
    return success(lengths != nullptr && (isPrompt || first));
  }

  LogicalResult readOptions() {
    using namespace gqa;
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
    using namespace gqa;
    bool interleaved = node.intAttr("rotary_interleaved", 0) != 0;
    if (!node.has(kCosine) || !node.has(kSine))
      return node.error("'do_rotary' needs cos_cache and sin_cache");
    Value positions;
    if (node.has(kPositions)) {
      positions = node.input(kPositions);
    } else {
      Value steps = counting(node, rows, {1, rows});
      positions = first ? f.of<top::AddOp>(node.reshape("", first, {batch, 1}), steps) : steps;
      positions = castTo(node, positions, node.builder().getI32Type());
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
} // namespace contrib

void registerContribAttention(Registry &registry) {
  registry.add("com.microsoft.MultiHeadAttention", {1, 1, 1, 10, contrib::importMultiHead});
  registry.add("com.microsoft.GroupQueryAttention", {1, 1, 1, 14, contrib::importGroupQuery});
  registry.add("com.microsoft.Attention", {1, 1, 2, 7, contrib::importProjected});
}

} // namespace pto_mlir::onnx
