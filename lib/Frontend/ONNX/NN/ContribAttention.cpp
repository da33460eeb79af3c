// MultiHeadAttention and Attention of com.microsoft.
#include "../Composite.h"
#include "../Math/Quantization.h"
#include "../Registry.h"
#include "AttentionParts.h"
#include "pto_mlir/Support/ElementType.h"

using namespace mlir;

namespace pto_mlir::onnx {
namespace contrib {
namespace {

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

// What a mask of integers adds to the scores: 0, or `hidden` for keys that it hides. Forms: [batch] the number of keys,
// [2 * batch] ends and begins, [batch, keys], [batch, queries, keys]. Null after an error.
Value readMask(Node &node, unsigned input, int64_t batch, int64_t queries, int64_t keys, double hidden, Type element) {
  Formula f(node);
  Value mask = node.input(input), isHidden;
  if (!areCountable(node, keys))
    return {};
  ArrayRef<int64_t> shape = shapeOf(mask);
  Value zero = floats(node, {}, {0.0});
  if (shape.size() == 1 && (shape[0] == batch || shape[0] == 2 * batch)) {
    Value numbers = castTo(node, mask, node.builder().getI32Type()), key = counting(node, keys, {keys});
    Value ends = node.reshape("", sliceDim(node, numbers, 0, 0, batch), {batch, 1, 1, 1});
    isHidden = f.compare(key, "ge", ends);
    if (shape[0] == 2 * batch) {
      Value begins = node.reshape("", sliceDim(node, numbers, 0, batch, 2 * batch), {batch, 1, 1, 1});
      isHidden = f.of<top::OrOp>(isHidden, f.compare(key, "lt", begins));
    }
  } else if (shape == ArrayRef<int64_t>{batch, keys} || shape == ArrayRef<int64_t>{batch, queries, keys}) {
    Value wide = node.reshape("", mask, {batch, 1, shape.size() == 2 ? 1 : queries, keys});
    isHidden = wide ? f.compare(wide, "eq", castTo(node, zero, node.type(input).getElementType())) : wide;
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
    hides = node.create<top::AddOp>("", {hides, castTo(node, spec.bias, element)});
  spec.bias = hides;
  return success(hides != nullptr);
}

//===-- MultiHeadAttention ------------------------------------------------===//

// Scale, causality and the inputs `mask` and `bias` of scores, for operands behind `past` rows.
LogicalResult finish(Node &node, AttentionSpec &spec, int64_t past, unsigned mask, unsigned bias) {
  spec.scale = scaleOf(node, spec.query);
  spec.causal = node.intAttr("unidirectional", 0) != 0;
  if (Value length = node.grownLength(spec.key.value, 2, spec.query.batch()))
    spec.lengths = length;
  else
    spec.offset = past;
  if (failed(readBias(node, spec, mask, bias)))
    return failure();
  return finishAttention(node, spec);
}

namespace mha {
enum Input { kQuery, kKey, kValue, kBias, kMask, kScores, kPastKey, kPastValue };
} // namespace mha

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
  if (!hasRank(node, kPastKey, 4, "past_key") || !hasRank(node, kPastValue, 4, "past_value"))
    return failure();
  if (node.has(kBias)) {
    int64_t wanted = heads * (2 * spec.query.depth() + spec.value.depth());
    if (!hasRank(node, kBias, 1, "the bias"))
      return failure();
    if (node.type(kBias).getDimSize(0) != wanted)
      return node.error("takes a bias of " + Twine(wanted) + ", got " + Twine(node.type(kBias).getDimSize(0)));
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
    if (node.appendsToState(kPastKey) && node.appendsToState(kPastValue)) {
      spec.key = splitHeads(node, spec.key), spec.value = splitHeads(node, spec.value);
      spec.key.value = node.appendToState(node.outputName(1), kPastKey, spec.key.value, 2);
      spec.value.value = node.appendToState(node.outputName(2), kPastValue, spec.value.value, 2);
    } else {
      spec.key = withPast(node, spec.key, past ? node.input(kPastKey) : Value(), node.outputName(1));
      spec.value = withPast(node, spec.value, past ? node.input(kPastValue) : Value(), node.outputName(2));
    }
    if (!spec.key.value || !spec.value.value)
      return failure();
    if (node.wantsOutput(1))
      node.set(1, spec.key.value);
    if (node.wantsOutput(2))
      node.set(2, spec.value.value);
  }
  return finish(node, spec, past, kMask, kScores);
}

//===-- Attention: the projections are its own ------------------------------===//

// What both forms refuse; nullopt after an error, else the number of heads.
std::optional<int64_t> headsOf(Node &node, unsigned past) {
  int64_t heads = node.intAttr("num_heads", 0);
  auto refuse = [&](const Twine &reason) { return (void)node.error(reason), std::nullopt; };
  if (heads < 1 || node.type(0).getRank() != 3 || node.type(1).getRank() != 2)
    return refuse("takes a positive 'num_heads', an input of rank 3 and weights of rank 2");
  if (node.intAttr("do_rotary", 0) != 0 || node.intAttr("past_present_share_buffer", 0) != 0)
    return refuse("rotation and a cache of fixed size are not supported");
  if (!hasRank(node, past, 5, "past"))
    return std::nullopt;
  if (node.has(past) && node.type(past).getDimSize(0) != 2)
    return refuse("past holds keys and values, got " + pto_mlir::shapeText(node.type(past).getShape()));
  return heads;
}

// The attention of queries, keys and values, which are the columns of `all`. `kMask`, `kPast`, `kScores`: inputs.
LogicalResult attend(Node &node, Value all, int64_t heads, unsigned kMask, unsigned kPast, unsigned kScores) {
  AttentionSpec spec;
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
  return finish(node, spec, past, kMask, kScores);
}

LogicalResult importProjected(Node &node) {
  enum Input { kInput, kWeights, kBias, kMask, kPast, kScores, kPastLength };
  std::optional<int64_t> heads = headsOf(node, kPast);
  if (!heads)
    return failure();
  if (node.has(kPastLength))
    return node.error("a cache of fixed size is not supported");
  node.intAttr("rotary_embedding_dim", 0);
  SmallVector<Value> operands{node.input(kInput), node.input(kWeights)};
  if (node.has(kBias))
    operands.push_back(node.input(kBias));
  return attend(node, node.create<top::MatMulOp>("", operands), *heads, kMask, kPast, kScores);
}

// The same with a projection of whole numbers of 8 bits.
LogicalResult importQuantised(Node &node) {
  enum Input { kInput, kWeights, kBias, kScale, kWeightScale, kMask, kZero, kWeightZero, kPast, kScores };
  std::optional<int64_t> heads = headsOf(node, kPast);
  if (!heads)
    return failure();
  Formula f(node);
  Value all;
  {
    Node::Wide wide(node);
    Type type = exactType(node, node.type(kWeights).getDimSize(0), 0, false);
    Value sums =
        vectorProduct(node, centred(node, kInput, kZero, type, 2), centred(node, kWeights, kWeightZero, type, 1));
    Value step = alongAxis(node, kScale, 1, 0), steps = alongAxis(node, kWeightScale, 1, 0);
    Value scale = step && steps ? f.of<top::MulOp>(step, steps) : Value();
    if (!sums || !scale)
      return failure();
    all = f.of<top::MulOp>(castTo(node, sums, node.builder().getF32Type()), scale);
  }
  return attend(node, all ? f.of<top::AddOp>(all, node.input(kBias)) : all, *heads, kMask, kPast, kScores);
}

} // namespace
} // namespace contrib

void registerContribAttention(Registry &registry) {
  registry.add("com.microsoft.MultiHeadAttention", {1, 1, 1, 10, contrib::importMultiHead});
  registry.add("com.microsoft.Attention", {1, 1, 2, 7, contrib::importProjected});
  registry.add("com.microsoft.QAttention", {1, 1, 5, 9, contrib::importQuantised});
}

} // namespace pto_mlir::onnx
