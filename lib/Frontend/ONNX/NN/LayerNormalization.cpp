// LayerNormalization, RMSNormalization and GroupNormalization.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

// A parameter broadcast to the shape of the normalised dimensions.
static Value parameter(Node &node, unsigned i, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> own = node.type(i).getShape();
  Value value = node.input(i);
  if (own == shape)
    return value;
  if (own.size() > shape.size() && llvm::all_of(own.drop_back(shape.size()), [](int64_t size) { return size == 1; }))
    return node.reshape("", value, shape);
  return node.create<top::ExpandOp>("", value, {node.i64s("shape", shape)});
}

static LogicalResult importNormalization(Node &node, bool centered) {
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", -1), node.type(0).getRank());
  double epsilon = node.floatAttr("epsilon", 1e-5f);
  // The statistics are computed in f32, as stash_type = 1 (float) specifies.
  int64_t stash = node.intAttr("stash_type", 1);
  if (!axis)
    return failure();
  if (stash != 1 && stash != 10 && stash != 16)
    return node.error("attribute 'stash_type' = " + Twine(stash) + " is not supported");
  for (unsigned i = 1; i < node.numOutputs(); ++i)
    if (node.wantsOutput(i))
      return node.error("output '" + node.outputName(i) + "' (a statistic) is not supported");
  ArrayRef<int64_t> shape = node.type(0).getShape().drop_front(*axis);
  SmallVector<Value> operands{node.input(0)};
  for (unsigned i = 1; i < node.numInputs(); ++i)
    if (node.has(i))
      operands.push_back(parameter(node, i, shape));
  return node.result<top::LayerNormOp>(
      operands, {node.i64("axis", *axis), node.f64("epsilon", epsilon), node.flag("centered", centered)});
}

static LogicalResult importLayerNormalization(Node &node) { return importNormalization(node, true); }
static LogicalResult importRMSNormalization(Node &node) { return importNormalization(node, false); }

// A parameter with one value per channel, shaped for broadcasting; before opset 21 it has one value per group.
static Value perChannel(Node &node, unsigned i, int64_t channels, int64_t groups, size_t rank) {
  Value value = node.input(i);
  if (node.type(i).getNumElements() != channels) {
    value = node.reshape("", value, {groups, 1});
    value = value ? node.create<top::ExpandOp>("", value, {node.i64s("shape", {groups, channels / groups})}) : Value();
  }
  SmallVector<int64_t> shape(rank - 1, 1);
  shape[0] = channels;
  return value ? node.reshape("", value, shape) : Value();
}

static LogicalResult importGroupNormalization(Node &node) {
  RankedTensorType type = node.type(0);
  int64_t groups = node.intAttr("num_groups", 0), stash = node.intAttr("stash_type", 1);
  double epsilon = node.floatAttr("epsilon", 1e-5f);
  if (type.getRank() < 3 || groups < 1 || type.getDimSize(1) % groups)
    return node.error("cannot divide the channels of an input of rank " + Twine(type.getRank()) + " into " +
                      Twine(groups) + " groups");
  if (stash != 1 && stash != 10 && stash != 16)
    return node.error("attribute 'stash_type' = " + Twine(stash) + " is not supported");
  int64_t channels = type.getDimSize(1), batch = type.getDimSize(0);
  for (unsigned i : {1u, 2u})
    if (node.type(i).getRank() != 1 || node.type(i).getDimSize(0) != (node.opset() < 21 ? groups : channels))
      return node.error("expects a scale and a bias per " + Twine(node.opset() < 21 ? "group" : "channel"));
  Value value =
      node.reshape("", node.input(0),
                   {batch, groups, channels / groups * ShapedType::getNumElements(type.getShape().drop_front(2))});
  value = node.create<top::LayerNormOp>(
      "", value, {node.i64("axis", 2), node.f64("epsilon", epsilon), node.flag("centered", true)});
  value = value ? node.reshape("", value, type.getShape()) : Value();
  value = node.create<top::MulOp>("", {value, perChannel(node, 1, channels, groups, type.getRank())});
  return node.result<top::AddOp>({value, perChannel(node, 2, channels, groups, type.getRank())});
}

void registerLayerNormalization(Registry &registry) {
  // onnxruntime adds the first two to the default domain of any opset.
  registry.add("LayerNormalization", {7, kMaxOpset, 2, 3, importLayerNormalization});
  registry.add("SimplifiedLayerNormalization", {7, kMaxOpset, 2, 2, importRMSNormalization});
  registry.add("GroupNormalization", {18, kMaxOpset, 3, 3, importGroupNormalization});
  registry.add("RMSNormalization", {23, kMaxOpset, 2, 2, importRMSNormalization});
}

} // namespace pto_mlir::onnx
