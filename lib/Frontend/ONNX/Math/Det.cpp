// Det: by elimination on the host; the values decide which row comes next.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importDet(Node &node) {
  RankedTensorType type = node.type(0);
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() < 2 || shape.back() != shape[shape.size() - 2] || !isa<FloatType>(type.getElementType()))
    return node.error("takes square matrices of floats");
  return node.finish(node.host(node.outputName(), "det", node.input(0),
                               RankedTensorType::get(shape.drop_back(2), type.getElementType()),
                               "the values decide the order of the rows"));
}

void registerDet(Registry &registry) { registry.add("Det", {11, kMaxOpset, 1, 1, importDet}); }

} // namespace pto_mlir::onnx
