// Normalisations of sums, of com.microsoft: SkipLayerNormalization, SkipSimplifiedLayerNormalization and
// EmbedLayerNormalization; SimplifiedLayerNormalization, which onnxruntime adds to the default domain.
#include "../Composite.h"
#include "../Registry.h"
#include "AttentionParts.h"
#include "pto_mlir/Support/ElementType.h"

using namespace mlir;

namespace pto_mlir::onnx {
namespace skip_norm {
namespace {

/// Normalises the last dimension and multiplies with input `scale`; adds input `shift`, if the node has it.
Value normalised(Node &node, Value value, unsigned scale, std::optional<unsigned> shift, bool centered) {
  double epsilon = node.floatAttr("epsilon", 1e-12f);
  if (!value)
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<Value> operands{value, node.input(scale)};
  if (type.getRank() < 1)
    return (void)node.error("takes no scalars"), Value();
  bool fits = node.type(scale).getShape() == type.getShape().take_back(1);
  if (shift && node.has(*shift)) {
    operands.push_back(node.input(*shift));
    fits &= node.type(*shift).getShape() == type.getShape().take_back(1);
  }
  if (!fits)
    return (void)node.error("scales and shifts have one number for each of the last dimension's elements"), Value();
  return node.create<top::LayerNormOp>(
      node.outputName(), operands,
      {node.i64("axis", type.getRank() - 1), node.f64("epsilon", epsilon), node.flag("centered", centered)});
}

/// The mean of the last dimension (output 1), and one over the root of its variance, or of the mean square (output 2),
/// in f32.
LogicalResult setStatistics(Node &node, Value sum, bool centered) {
  Formula f(node);
  auto last = static_cast<int64_t>(cast<RankedTensorType>(sum.getType()).getRank() - 1);
  SmallVector<NamedAttribute> axes{node.i64s("axes", {last})};
  Value x = castTo(node, sum, node.builder().getF32Type());
  Value mean = node.create<top::ReduceMeanOp>(node.wantsOutput(1) ? node.outputName(1) : "", x, axes);
  Value away = centered ? f.of<top::SubOp>(x, mean) : x;
  Value variance = f.of<top::ReduceMeanOp>(f.of<top::MulOp>(away, away), axes);
  Value root = f.of<top::SqrtOp>(f.of<top::AddOp>(variance, node.floatAttr("epsilon", 1e-12f)));
  Value inverse = root ? node.create<top::ReciprocalOp>(node.wantsOutput(2) ? node.outputName(2) : "", root) : root;
  if (!mean || !inverse)
    return failure();
  if (node.wantsOutput(1))
    node.set(1, mean);
  if (node.wantsOutput(2))
    node.set(2, inverse);
  return success();
}

/// input + skip + bias -> the sum (output 3), its statistics and what it is normalised to.
LogicalResult importSkip(Node &node, std::optional<unsigned> shift, unsigned bias, bool centered) {
  RankedTensorType type = node.type(0);
  Formula f(node);
  bool isNamed = node.wantsOutput(3), hasBias = node.has(bias);
  Value sum = node.create<top::AddOp>(isNamed && !hasBias ? node.outputName(3) : "", {node.input(0), node.input(1)});
  if (hasBias && sum)
    sum = node.create<top::AddOp>(isNamed ? node.outputName(3) : "", {sum, node.input(bias)});
  if (sum && sum.getType() != type)
    return node.error("has a skip or a bias that does not broadcast to the input");
  if (sum && isNamed)
    node.set(3, sum);
  bool hasStatistics = node.wantsOutput(1) || node.wantsOutput(2);
  if (sum && type.getRank() > 0 && hasStatistics && failed(setStatistics(node, sum, centered)))
    return failure();
  return node.finish(normalised(node, sum, 2, shift, centered));
}

LogicalResult importSkipLayer(Node &node) { return importSkip(node, 3, 4, true); }
LogicalResult importSkipSimplified(Node &node) { return importSkip(node, std::nullopt, 3, false); }

/// Rows `first` .. of an embedding, by the ids of input `ids`.
Value embedded(Node &node, unsigned table, Value ids) {
  return ids ? node.create<top::GatherOp>("", {node.input(table), ids}, {node.i64("axis", 0)}) : ids;
}

LogicalResult importEmbed(Node &node) {
  enum Input { kIds, kSegments, kWords, kPositions, kSegmentTable, kScale, kShift, kMask, kPositionIds };
  for (unsigned input : {kWords, kPositions, kScale, kShift})
    if (!node.has(input))
      return node.error("input " + Twine(input) + " is missing");
  RankedTensorType ids = node.type(kIds);
  if (ids.getRank() != 2 || node.type(kWords).getRank() != 2 || node.type(kPositions).getRank() != 2)
    return node.error("takes ids [batch, rows] and tables of rank 2");
  int64_t rows = ids.getDimSize(1);
  if (!areCountable(node, rows))
    return failure();
  if (!node.has(kPositionIds) && node.type(kPositions).getDimSize(0) < rows)
    return node.error("has " + Twine(rows) + " rows and " + Twine(node.type(kPositions).getDimSize(0)) + " positions");
  Value places = node.has(kPositionIds) ? embedded(node, kPositions, node.input(kPositionIds))
                                        : sliceDim(node, node.input(kPositions), 0, 0, rows);
  Formula f(node);
  bool hasSegments = node.has(kSegments) && node.has(kSegmentTable), isNamed = node.wantsOutput(2);
  Value words = embedded(node, kWords, node.input(kIds));
  Value sum = words && places
                  ? node.create<top::AddOp>(isNamed && !hasSegments ? node.outputName(2) : "", {words, places})
                  : Value();
  if (hasSegments && sum)
    sum = node.create<top::AddOp>(isNamed ? node.outputName(2) : "",
                                  {sum, embedded(node, kSegmentTable, node.input(kSegments))});
  if (!sum)
    return failure();
  if (isNamed)
    node.set(2, sum);
  if (node.wantsOutput(1)) { // how many rows of each batch the mask leaves
    if (node.intAttr("mask_index_type", 1) == 0)
      return node.error("gives no mask_index for mask_index_type 0");
    Type whole = node.builder().getI32Type();
    Value one = top::createConstant(node.builder(), node.builder().getUnknownLoc(), "",
                                    RankedTensorType::get({}, whole), top::fromInts(whole, {0}));
    Value count = node.has(kMask)
                      ? node.create<top::ReduceSumOp>(node.outputName(1), castTo(node, node.input(kMask), whole),
                                                      {node.i64s("axes", {1}), node.flag("keepdims", false)})
                      : node.create<top::ExpandOp>(node.outputName(1), one, {node.i64s("shape", {ids.getDimSize(0)})});
    if (!count)
      return failure();
    node.set(1, count);
  }
  node.intAttr("mask_index_type", 1);
  return node.finish(normalised(node, sum, kScale, kShift, true));
}

} // namespace
} // namespace skip_norm

void registerSkipNormalization(Registry &registry) {
  registry.add("com.microsoft.SkipLayerNormalization", {1, 1, 3, 5, skip_norm::importSkipLayer});
  registry.add("com.microsoft.SkipSimplifiedLayerNormalization", {1, 1, 3, 4, skip_norm::importSkipSimplified});
  registry.add("com.microsoft.EmbedLayerNormalization", {1, 1, 1, 9, skip_norm::importEmbed});
}

} // namespace pto_mlir::onnx
