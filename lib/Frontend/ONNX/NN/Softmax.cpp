#include "../Composite.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importSoftmax(Node &node) {
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", -1), node.type(0).getRank());
  if (!axis)
    return failure();
  Value scores = node.hideGrownRows(node.input(0), *axis);
  return scores ? node.result<top::SoftmaxOp>(scores, {node.i64("axis", *axis)}) : failure();
}

// Before opset 13: over all dimensions from the axis on, flattened.
static LogicalResult importFlattenedSoftmax(Node &node) {
  RankedTensorType type = node.type(0);
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", 1), type.getRank());
  if (!axis)
    return failure();
  int64_t inner = 1;
  for (int64_t size : type.getShape().drop_front(*axis))
    inner *= size;
  if (inner == type.getDimSize(*axis))
    return node.result<top::SoftmaxOp>(node.input(0), {node.i64("axis", *axis)});
  Value rows = node.reshape("", node.input(0), {ShapedType::getNumElements(type.getShape().take_front(*axis)), inner});
  Value softmax = node.create<top::SoftmaxOp>("", rows, {node.i64("axis", 1)});
  return node.finish(softmax ? node.reshape(node.outputName(), softmax, type.getShape()) : Value());
}

// x - max - log(sum of exp(x - max)) over one axis.
static LogicalResult importLogSoftmax(Node &node) {
  RankedTensorType type = node.type(0);
  bool isFlattened = node.opset() < 13;
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", isFlattened ? 1 : -1), type.getRank());
  if (!axis)
    return failure();
  // Before opset 13 over all dimensions from the axis on.
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(*axis, isFlattened ? type.getRank() : *axis + 1));
  Formula f(node);
  Value centred = f.of<top::SubOp>(node.input(0), f.over<top::ReduceMaxOp>(node.input(0), axes));
  Value sum = f.over<top::ReduceSumOp>(f.of<top::ExpOp>(centred), axes);
  return f.result<top::SubOp>(centred, f.of<top::LogOp>(sum));
}

void registerSoftmax(Registry &registry) {
  registry.add("Softmax", {7, 12, 1, 1, importFlattenedSoftmax});
  registry.add("Softmax", {13, kMaxOpset, 1, 1, importSoftmax});
  registry.add("LogSoftmax", {7, kMaxOpset, 1, 1, importLogSoftmax});
}

} // namespace pto_mlir::onnx
