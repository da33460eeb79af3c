// NonZero: computed by the program, because the number of columns is dynamic.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

// The positions, a column for each.
static LogicalResult ofConstant(Node &node, const top::Weight &weight) {
  ArrayRef<int64_t> shape = weight.type.getShape();
  std::vector<double> values = top::toDoubles(weight);
  std::vector<std::vector<int64_t>> rows(shape.size());
  for (auto [i, value] : llvm::enumerate(values)) {
    if (value == 0)
      continue;
    int64_t rest = static_cast<int64_t>(i);
    for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0; --dim) {
      rows[dim].push_back(rest % shape[dim]);
      rest /= shape[dim];
    }
  }
  OpBuilder &b = node.builder();
  std::vector<int64_t> all;
  for (const std::vector<int64_t> &row : rows)
    llvm::append_range(all, row);
  auto result = RankedTensorType::get({weight.type.getRank(), static_cast<int64_t>(rows[0].size())}, b.getI64Type());
  return node.finish(top::createConstant(b, top::namedLoc(b.getContext(), node.outputName()), node.outputName(), result,
                                         top::fromInts(b.getI64Type(), all)));
}

static LogicalResult importNonZero(Node &node) {
  RankedTensorType type = node.type(0);
  if (type.getRank() == 0)
    return node.error("takes no scalar");
  if (std::optional<top::Weight> weight = node.constant(0);
      weight && isa<FloatType, IntegerType>(type.getElementType()))
    return ofConstant(node, *weight);
  OpBuilder &b = node.builder();
  auto result = RankedTensorType::get({type.getRank(), ShapedType::kDynamic}, b.getI64Type());
  Value indices = b.create<top::NonZeroOp>(top::namedLoc(b.getContext(), node.outputName()), result, node.input(0));
  node.setExtents(indices, 0, type.getNumElements());
  node.set(0, indices);
  return success();
}

void registerNonZero(Registry &registry) { registry.add("NonZero", {9, kMaxOpset, 1, 1, importNonZero}); }

} // namespace pto_mlir::onnx
