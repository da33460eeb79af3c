// Shape and Size are constants: all shapes are static.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static top::Weight int64s(Node &node, ArrayRef<int64_t> values, bool scalar) {
  Type element = node.builder().getI64Type();
  auto bytes = std::make_shared<const std::vector<char>>(top::fromInts(element, values));
  auto type = scalar ? RankedTensorType::get({}, element)
                     : RankedTensorType::get({static_cast<int64_t>(values.size())}, element);
  return {type, ArrayRef<char>(*bytes), bytes};
}

static LogicalResult importShape(Node &node) {
  ArrayRef<int64_t> shape = node.type(0).getShape();
  int64_t rank = shape.size(), start = 0, end = rank;
  if (node.opset() >= 15) {
    start = node.intAttr("start", 0);
    end = node.intAttr("end", rank);
  }
  start = std::clamp<int64_t>(start < 0 ? start + rank : start, 0, rank);
  end = std::clamp<int64_t>(end < 0 ? end + rank : end, start, rank);
  node.set(0, int64s(node, shape.slice(start, end - start), false));
  return success();
}

static LogicalResult importSize(Node &node) {
  node.set(0, int64s(node, node.type(0).getNumElements(), true));
  return success();
}

void registerShape(Registry &registry) {
  registry.add("Shape", {7, kMaxOpset, 1, 1, importShape, kTakesStrings});
  registry.add("Size", {7, kMaxOpset, 1, 1, importSize, kTakesStrings});
}

} // namespace pto_mlir::onnx
