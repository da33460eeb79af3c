// What selects elements by their values or by computed places: top-k, gather_elements, scatter.
#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

template <typename OpTy>
static LogicalResult inferTopK(std::optional<Location> loc, typename OpTy::Adaptor adaptor, bool indices,
                               SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  auto k = static_cast<int64_t>(adaptor.getK());
  if (type.getRank() == 0)
    return inferError<OpTy>(loc, "expects rows, got a scalar");
  if (k < 1 || k > type.getShape().back())
    return inferError<OpTy>(loc, "expects k from 1 to ", type.getShape().back(), ", got ", k);
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = k;
  Type element = indices ? IntegerType::get(type.getContext(), 64) : type.getElementType();
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

LogicalResult TopKValuesOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  return inferTopK<TopKValuesOp>(loc, adaptor, false, types);
}

LogicalResult TopKIndicesOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  return inferTopK<TopKIndicesOp>(loc, adaptor, true, types);
}

bool TopKIndicesOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange actual) {
  auto want = cast<RankedTensorType>(inferred.front()), have = dyn_cast<RankedTensorType>(actual.front());
  return have && have.getShape() == want.getShape() &&
         (have.getElementType().isInteger(64) || have.getElementType().isInteger(32));
}

static bool isIndex(Type type) { return type.isInteger(32) || type.isInteger(64); }

LogicalResult GatherElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  auto data = cast<RankedTensorType>(adaptor.getData().getType()),
       indices = cast<RankedTensorType>(adaptor.getIndices().getType());
  if (data.getRank() == 0 || data.getRank() != indices.getRank() ||
      data.getShape().drop_back() != indices.getShape().drop_back())
    return inferError<GatherElementsOp>(loc, "expects data and indices with the same rows, got ",
                                        shapeText(data.getShape()), " and ", shapeText(indices.getShape()));
  if (!isIndex(indices.getElementType()))
    return inferError<GatherElementsOp>(loc, "expects indices of type i32 or i64, got ", indices.getElementType());
  types.push_back(RankedTensorType::get(indices.getShape(), data.getElementType()));
  return success();
}

LogicalResult RepeatRowsOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType()),
       like = cast<RankedTensorType>(adaptor.getLike().getType());
  if (like.getRank() < 2 || like.getShape().drop_front() != input.getShape())
    return inferError<RepeatRowsOp>(loc, "expects a tensor like that has the input's shape behind one dimension, got ",
                                    shapeText(input.getShape()), " and ", shapeText(like.getShape()));
  types.push_back(RankedTensorType::get(like.getShape(), input.getElementType()));
  return success();
}

LogicalResult TakeRowsOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  if (input.getRank() != 3)
    return inferError<TakeRowsOp>(loc, "expects three dimensions, got ", shapeText(input.getShape()));
  int64_t first = adaptor.getFirst(), count = adaptor.getCount(), rows = input.getDimSize(1);
  if (first < 0 || count < 1 || count > rows || first > rows - count)
    return inferError<TakeRowsOp>(loc, "expects rows of the ", rows, " that there are, got ", count, " from ", first);
  types.push_back(RankedTensorType::get({input.getDimSize(0), count, input.getDimSize(2)}, input.getElementType()));
  return success();
}

LogicalResult TransposeRowsOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  if (input.getRank() != 2)
    return inferError<TransposeRowsOp>(loc, "expects two dimensions, got ", shapeText(input.getShape()));
  types.push_back(RankedTensorType::get({input.getDimSize(1), input.getDimSize(0)}, input.getElementType()));
  return success();
}

LogicalResult ReduceRowsOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  if (input.getRank() != 3)
    return inferError<ReduceRowsOp>(loc, "expects three dimensions, got ", shapeText(input.getShape()));
  if (!llvm::is_contained({"sum", "mean", "max", "min"}, adaptor.getKind()))
    return inferError<ReduceRowsOp>(loc, "expects a kind of sum, mean, max or min, got ", adaptor.getKind());
  int64_t outer = input.getDimSize(0), parts = adaptor.getParts(), columns = input.getDimSize(2);
  if (parts < 1)
    return inferError<ReduceRowsOp>(loc, "expects at least one part, got ", parts);
  types.push_back(parts == 1 ? RankedTensorType::get({outer, columns}, input.getElementType())
                             : RankedTensorType::get({outer, parts, columns}, Float32Type::get(input.getContext())));
  return success();
}

bool ReduceRowsOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange actual) {
  auto want = cast<RankedTensorType>(inferred.front()), have = dyn_cast<RankedTensorType>(actual.front());
  return have && have.getShape() == want.getShape() &&
         (have.getElementType() == want.getElementType() || have.getElementType().isF32());
}

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto data = cast<RankedTensorType>(adaptor.getData().getType()),
       positions = cast<RankedTensorType>(adaptor.getPositions().getType()),
       updates = cast<RankedTensorType>(adaptor.getUpdates().getType());
  if (data.getRank() != 2 || positions.getRank() != 1 || updates.getRank() != 2 ||
      updates.getDimSize(0) != positions.getDimSize(0) || updates.getDimSize(1) != data.getDimSize(1))
    return inferError<ScatterOp>(loc, "expects data [rows, n], positions [count] and updates [count, n], got ",
                                 shapeText(data.getShape()), ", ", shapeText(positions.getShape()), " and ",
                                 shapeText(updates.getShape()));
  if (!isIndex(positions.getElementType()))
    return inferError<ScatterOp>(loc, "expects positions of type i32 or i64, got ", positions.getElementType());
  if (data.getElementType() != updates.getElementType())
    return inferError<ScatterOp>(loc, "expects updates of the data's type ", data.getElementType(), ", got ",
                                 updates.getElementType());
  StringRef reduction = adaptor.getReduction();
  if (!llvm::is_contained({"none", "add", "mul", "max", "min"}, reduction))
    return inferError<ScatterOp>(loc, "expects the reduction none, add, mul, max or min, got '", reduction, "'");
  types.push_back(data);
  return success();
}
