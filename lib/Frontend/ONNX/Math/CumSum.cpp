// CumSum: cumulative sums along an axis, as a product with a triangular matrix of ones.
#include "../Composite.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importCumSum(Node &node) {
  RankedTensorType type = node.type(0);
  bool exclusive = node.intAttr("exclusive", 0), reverse = node.intAttr("reverse", 0);
  std::optional<SmallVector<int64_t>> list = node.ints(1, "axis");
  if (!list)
    return failure();
  if (list->size() != 1)
    return node.error("takes one axis");
  std::optional<int64_t> axis = node.axis(list->front(), type.getRank());
  if (!axis)
    return failure();
  if (!isa<FloatType>(type.getElementType()))
    return node.error("of integers is not supported; cast the input to float");
  int64_t size = type.getDimSize(*axis);
  if (size > 4096)
    return node.error("along an axis of " + Twine(size) + " elements is not supported; up to 4096 are");
  std::vector<double> ones(size * size, 0.0);
  for (int64_t from = 0; from < size; ++from)
    for (int64_t to = 0; to < size; ++to)
      ones[from * size + to] = (reverse ? from > to : from < to) || (from == to && !exclusive);
  OpBuilder &b = node.builder();
  Value triangle = top::createConstant(b, b.getUnknownLoc(), (node.outputName() + "_triangle").str(),
                                       RankedTensorType::get({size, size}, type.getElementType()),
                                       top::fromDoubles(type.getElementType(), ones));
  // Transpose the axis to the end and back; treat a vector as a row.
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  std::swap(perm[*axis], perm.back());
  bool moves = *axis + 1 != type.getRank();
  Formula f(node);
  Value value = moves ? f.of<top::PermuteOp>(node.input(0), {node.i64s("perm", perm)}) : node.input(0);
  if (type.getRank() == 1)
    value = node.reshape("", value, {1, size});
  bool last = !moves && type.getRank() > 1;
  value = node.create<top::MatMulOp>(last ? node.outputName() : "", {value, triangle});
  if (type.getRank() == 1)
    return node.finish(node.reshape(node.outputName(), value, {size}));
  return moves ? f.result<top::PermuteOp>(value, {node.i64s("perm", perm)}) : node.finish(value);
}

void registerCumSum(Registry &registry) { registry.add("CumSum", {11, kMaxOpset, 2, 2, importCumSum}); }

} // namespace pto_mlir::onnx
