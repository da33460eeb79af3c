// Gather from a constant, as shape arithmetic does.
#include <cstring>
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importGather(Node &node) {
  std::optional<top::Weight> data = node.constant(0), indices = node.constant(1);
  if (!data || !indices)
    return node.error("is supported on constants only");
  if (!isa<IntegerType>(indices->type.getElementType()))
    return node.error("indices must be integers");
  ArrayRef<int64_t> shape = data->type.getShape();
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", 0), shape.size());
  if (!axis)
    return failure();
  int64_t outer = 1, inner = top::elementBytes(data->type.getElementType()), size = shape[*axis];
  for (int64_t dim : shape.take_front(*axis))
    outer *= dim;
  for (int64_t dim : shape.drop_front(*axis + 1))
    inner *= dim;
  std::vector<char> bytes;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t index : top::toInts(*indices)) {
      if (index < -size || index >= size)
        return node.error("index " + Twine(index) + " is outside of axis " + Twine(*axis) + " of size " + Twine(size));
      const char *row = data->bytes.data() + (o * size + (index < 0 ? index + size : index)) * inner;
      bytes.insert(bytes.end(), row, row + inner);
    }
  }
  SmallVector<int64_t> result(shape.take_front(*axis));
  llvm::append_range(result, indices->type.getShape());
  llvm::append_range(result, shape.drop_front(*axis + 1));
  auto owner = std::make_shared<const std::vector<char>>(std::move(bytes));
  node.set(0, top::Weight{RankedTensorType::get(result, data->type.getElementType()), ArrayRef<char>(*owner), owner});
  return success();
}

void registerGather(Registry &registry) { registry.add("Gather", {7, kMaxOpset, 2, 2, importGather}); }

} // namespace pto_mlir::onnx
