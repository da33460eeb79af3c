// Attention of ONNX's own domain.
#include "../Composite.h"
#include "../Registry.h"
#include "AttentionParts.h"

#include <cmath>
#include <limits>

#include "pto_mlir/Support/ElementType.h"

using namespace mlir;

namespace pto_mlir::onnx {
namespace {

enum Input { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kLengths };

// Q, K or V: of rank 4 as it is, of rank 3 with `heads` heads in its columns; null after an error.
HeadTensor readHeads(Node &node, unsigned i, int64_t heads, StringRef attribute) {
  ArrayRef<int64_t> shape = node.type(i).getShape();
  if (shape.size() == 4)
    return {node.input(i), shape[1], false};
  if (shape.size() != 3 || heads < 1 || shape[2] % heads) {
    (void)node.error("input " + Twine(i) + " of shape " + pto_mlir::shapeText(shape) +
                     " is neither of rank 4 nor of rank 3 with '" + attribute + "' heads");
    return {};
  }
  return {node.input(i), heads, true};
}

// The mask as numbers to be added to scores of `keys` keys; a shorter one hides the keys behind its end.
Value readMask(Node &node, int64_t keys, Type element) {
  Formula f(node);
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  Value mask = node.input(kMask);
  if (node.type(kMask).getElementType().isInteger(1)) {
    Type number = isa<FloatType>(element) ? element : node.builder().getF32Type();
    Value zero = floats(node, {}, {0.0}), hidden = floats(node, {}, {kHidden});
    mask = node.create<top::WhereOp>("", {mask, castTo(node, zero, number), castTo(node, hidden, number)});
  }
  if (!mask)
    return {};
  ArrayRef<int64_t> shape = cast<RankedTensorType>(mask.getType()).getShape();
  if (shape.empty() || shape.back() >= keys)
    return mask;
  SmallVector<int64_t> pads(2 * shape.size(), 0);
  pads.back() = keys - shape.back();
  return node.create<top::PadOp>("", mask, {node.i64s("pads", pads), node.f64("value", kHidden)});
}

// Joins K or V with the past of its cache and sets the output for it.
HeadTensor withPast(Node &node, HeadTensor tensor, unsigned past, unsigned output) {
  if (!node.has(past) && !node.wantsOutput(output))
    return tensor;
  tensor = splitHeads(node, tensor, node.has(past) ? "" : node.outputName(output));
  if (node.appendsToState(past))
    tensor.value = node.appendToState(node.outputName(output), past, tensor.value, 2);
  else if (node.has(past))
    tensor.value = concatenate(node, node.outputName(output), {node.input(past), tensor.value}, 2);
  if (tensor.value && node.wantsOutput(output))
    node.set(output, tensor.value);
  return tensor;
}

bool readWindow(Node &node, AttentionSpec &spec) {
  if (node.opset() < 25)
    return true;
  spec.left = node.intAttr("left_window_size", -1);
  spec.right = node.intAttr("right_window_size", -1);
  if (spec.left >= -1 && spec.right >= -1)
    return true;
  (void)node.error("window sizes are -1 (none) or not negative");
  return false;
}

LogicalResult importAttention(Node &node) {
  AttentionSpec spec;
  int64_t queryHeads = node.intAttr("q_num_heads", 0), heads = node.intAttr("kv_num_heads", queryHeads);
  spec.query = readHeads(node, kQuery, queryHeads, "q_num_heads");
  spec.key = readHeads(node, kKey, heads, "kv_num_heads");
  spec.value = readHeads(node, kValue, heads, "kv_num_heads");
  if (!spec.query.value || !spec.key.value || !spec.value.value)
    return failure();
  if (spec.key.heads < 1 || spec.key.heads != spec.value.heads || spec.query.heads % spec.key.heads)
    return node.error(Twine(spec.query.heads) + " heads of queries cannot share " + Twine(spec.key.heads) +
                      " of keys and " + Twine(spec.value.heads) + " of values");
  if (!areCountable(node, spec.query.rows()) || !areCountable(node, spec.key.rows()) ||
      !hasRank(node, kPastKey, 4, "past_key") || !hasRank(node, kPastValue, 4, "past_value") ||
      !hasRank(node, kLengths, 1, "nonpad_kv_seqlen"))
    return failure();
  if (node.has(kPastKey) != node.has(kPastValue))
    return node.error("has one of past_key and past_value, but not the other");
  if (node.has(kPastKey) && node.has(kLengths))
    return node.error("takes either past_key and past_value or nonpad_kv_seqlen, not both");
  spec.scale = node.floatAttr("scale", 1 / std::sqrt(static_cast<double>(spec.query.depth())));
  spec.softcap = node.floatAttr("softcap", 0);
  spec.causal = node.intAttr("is_causal", 0) != 0;
  spec.isResultMerged = spec.query.isMerged;
  int64_t mode = node.intAttr("qk_matmul_output_mode", 0);
  node.intAttr("softmax_precision", 1); // always that of f32, of f64 for f64
  if (mode < 0 || mode > 3 || !readWindow(node, spec))
    return node.hasErrors() ? failure() : node.error("attribute 'qk_matmul_output_mode' is 0 to 3");
  int64_t past = node.has(kPastKey) ? node.type(kPastKey).getDimSize(2) : 0;
  spec.key = withPast(node, spec.key, kPastKey, 1);
  spec.value = withPast(node, spec.value, kPastValue, 2);
  if (!spec.key.value || !spec.value.value || !areCountable(node, spec.key.rows()))
    return failure();
  if (node.has(kLengths)) // rows end where the keys do
    spec.lengths = castTo(node, node.input(kLengths), node.builder().getI32Type());
  else if (Value length = node.grownLength(spec.key.value, spec.key.isMerged ? 1 : 2, spec.query.batch()))
    spec.lengths = length;
  else
    spec.offset = past;
  if (node.has(kMask) && !(spec.bias = readMask(node, spec.key.rows(), node.type(kQuery).getElementType())))
    return failure();
  if (!node.wantsOutput(3))
    return node.finish(buildAttention(node, node.outputName(), spec));
  auto [output, scores] =
      buildAttentionWithScores(node, node.outputName(), node.outputName(3), spec, static_cast<ScoresAt>(mode));
  if (!output || !scores)
    return failure();
  node.set(3, scores);
  return node.finish(output);
}

} // namespace

void registerAttention(Registry &registry) {
  registry.add("Attention", {23, 23, 3, 6, importAttention});
  registry.add("Attention", {24, kMaxOpset, 3, 7, importAttention});
}

} // namespace pto_mlir::onnx
