#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

// A vector on the left is treated as a row, on the right as a column; the added dimension is removed from the result.
static LogicalResult importMatMul(Node &node) {
  RankedTensorType a = node.type(0), b = node.type(1);
  if (a.getRank() == 0 || b.getRank() == 0)
    return node.error("takes no scalars");
  Value lhs = node.input(0), rhs = node.input(1);
  bool row = a.getRank() == 1, column = b.getRank() == 1;
  if (!row && !column)
    return node.result<top::MatMulOp>({lhs, rhs});
  if (row)
    lhs = node.reshape("", lhs, {1, a.getDimSize(0)});
  if (column)
    rhs = node.reshape("", rhs, {b.getDimSize(0), 1});
  Value product = node.create<top::MatMulOp>("", {lhs, rhs});
  if (!product)
    return failure();
  SmallVector<int64_t> shape(cast<RankedTensorType>(product.getType()).getShape());
  if (column)
    shape.pop_back();
  if (row)
    shape.erase(shape.end() - (column ? 1 : 2));
  return node.finish(node.reshape(node.outputName(), product, shape));
}

void registerMatMul(Registry &registry) { registry.add("MatMul", {7, kMaxOpset, 2, 2, importMatMul}); }

} // namespace pto_mlir::onnx
