// GatherElements and GatherND: rows of the flattened data, at positions computed from the indices.
#include "../Registry.h"
#include "Positions.h"
#include "pto_mlir/Kernels/Templates.h"

using namespace mlir;

namespace pto_mlir::onnx {

// The axis moved to the end, where each row of indices selects from its own row of the data. Nothing where rows are too
// long for that.
static std::optional<LogicalResult> gatherByRows(Node &node, int64_t axis) {
  RankedTensorType type = node.type(0);
  SmallVector<int64_t> shape(type.getShape()), part(node.type(1).getShape());
  std::swap(shape[axis], shape.back());
  if (!templates::gathersRows(RankedTensorType::get(shape, type.getElementType())))
    return std::nullopt;
  part[axis] = type.getDimSize(axis);
  SmallVector<int64_t> zeros(part.size(), 0), ones(part.size(), 1),
      perm(llvm::to_vector(llvm::seq<int64_t>(0, part.size())));
  std::swap(perm[axis], perm.back());
  bool moves = axis + 1 != type.getRank();
  Value data = node.input(0), indices = node.constant(1) ? readIndices(node, 1, type.getDimSize(axis)) : node.input(1);
  if (part != type.getShape())
    data = node.create<top::SliceOp>("", data,
                                     {node.i64s("starts", zeros), node.i64s("ends", part), node.i64s("steps", ones)});
  auto moved = [&](StringRef name, Value value) {
    return moves && value ? node.create<top::PermuteOp>(name, value, {node.i64s("perm", perm)}) : value;
  };
  data = moved("", data), indices = moved("", indices);
  Value result =
      data && indices ? node.create<top::GatherElementsOp>(moves ? "" : node.outputName(), {data, indices}) : Value();
  return node.finish(moved(node.outputName(), result));
}

static LogicalResult importGatherElements(Node &node) {
  RankedTensorType type = node.type(0), indexType = node.type(1);
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", 0), type.getRank());
  if (!axis)
    return failure();
  bool fits = indexType.getRank() == type.getRank();
  for (int64_t d = 0; fits && d < type.getRank(); ++d)
    fits &= d == *axis || indexType.getDimSize(d) <= type.getDimSize(d);
  if (!fits)
    return node.error("indices of shape " + shapeText(indexType.getShape()) + " do not fit data of shape " +
                      shapeText(type.getShape()));
  if (std::optional<LogicalResult> rows = gatherByRows(node, *axis))
    return *rows;
  Value indices = readIndices(node, 1, type.getDimSize(*axis));
  Value positions = indices ? elementPositions(node, indices, type.getShape(), *axis) : indices;
  Value flat = positions ? node.reshape("", node.input(0), {type.getNumElements()}) : positions;
  return flat ? node.result<top::GatherOp>({flat, positions}, {node.i64("axis", 0)}) : failure();
}

static LogicalResult importGatherND(Node &node) {
  RankedTensorType type = node.type(0);
  ArrayRef<int64_t> shape = type.getShape();
  int64_t batch = node.opset() >= 12 ? node.intAttr("batch_dims", 0) : 0;
  if (batch < 0 || batch >= type.getRank())
    return node.error("attribute 'batch_dims' = " + Twine(batch) + " is out of range");
  Value positions = tuplePositions(node, 1, shape, batch);
  if (!positions)
    return failure();
  int64_t depth = batch + node.type(1).getShape().back();
  SmallVector<int64_t> rows{ShapedType::getNumElements(shape.take_front(depth))};
  llvm::append_range(rows, shape.drop_front(depth));
  Value data = node.reshape("", node.input(0), rows);
  return data ? node.result<top::GatherOp>({data, positions}, {node.i64("axis", 0)}) : failure();
}

void registerGatherElements(Registry &registry) {
  registry.add("GatherElements", {11, kMaxOpset, 2, 2, importGatherElements, kTakesStrings});
  registry.add("GatherND", {11, kMaxOpset, 2, 2, importGatherND, kTakesStrings});
}

} // namespace pto_mlir::onnx
