//===- PTOTileOps.cpp - allocation and aliases of tiles -------------------------------===//

#include "VerifyHelpers.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace pto_mlir::pto;

Value TAssignOp::getAliasSource() { return getSource(); }
Value SubsetOp::getAliasSource() { return getSource(); }
Value TReshapeOp::getAliasSource() { return getSrc(); }
Value BitcastOp::getAliasSource() { return getSrc(); }

LogicalResult AllocTileOp::verify() {
  TileBufType type = getTileType();
  auto check = [&](StringRef name, bool present, bool dynamic) -> LogicalResult {
    if (present == dynamic)
      return success();
    if (dynamic)
      return emitOpError("expects ") << name << ", since the valid shape of " << type << " has a '?' there";
    return emitOpError("expects no ") << name << ", since the valid shape of " << type << " is static there";
  };
  if (failed(check("valid_row", static_cast<bool>(getValidRow()), type.hasDynamicValidRows())))
    return failure();
  return check("valid_col", static_cast<bool>(getValidCol()), type.hasDynamicValidCols());
}

namespace {
struct Box {
  int64_t rows, cols;
};
} // namespace

/// The inner box of a boxed tile.
static Box innerBox(TileBufType type) {
  if (!type.isBoxed())
    return {1, 1};
  if (type.getFractal() == 1024)
    return {16, 16};
  if (type.getFractal() == 32)
    return {16, 2};
  int64_t c0 = getC0(type.getElementType());
  return type.getSLayout() == SLayout::row_major ? Box{16, c0} : Box{c0, 16};
}

/// min(size, valid - offset), `?` when offset or valid is not known.
static int64_t subsetValid(int64_t size, int64_t valid, std::optional<int64_t> offset) {
  if (!offset || ShapedType::isDynamic(valid))
    return ShapedType::kDynamic;
  return std::max<int64_t>(0, std::min(size, valid - *offset));
}

LogicalResult SubsetOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                         DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                         SmallVectorImpl<Type> &inferred) {
  SubsetOp::Adaptor op(operands, attributes, properties, regions);
  auto source = dyn_cast<TileBufType>(op.getSource().getType());
  auto sizes = op.getSizes();
  if (!source || !sizes || sizes.size() != 2 || op.getOffsets().size() != 2)
    return emitOptionalError(location, "'pto.subset' op expects a tile, two offsets and two sizes");
  int64_t rows = cast<IntegerAttr>(sizes[0]).getInt(), cols = cast<IntegerAttr>(sizes[1]).getInt();
  if (rows <= 0 || cols <= 0)
    return emitOptionalError(location, "'pto.subset' op expects positive sizes, got ", rows, "x", cols);
  int64_t validRows = subsetValid(rows, source.getValidRows(), getConstantIntValue(op.getOffsets()[0]));
  int64_t validCols = subsetValid(cols, source.getValidCols(), getConstantIntValue(op.getOffsets()[1]));
  inferred.push_back(source.withShape(rows, cols).withValid(validRows, validCols));
  return success();
}

LogicalResult SubsetOp::verify() {
  auto source = cast<TileBufType>(getSource().getType());
  if (!source.isBoxed())
    return success();
  Box box = innerBox(source);
  auto result = cast<TileBufType>(getResult().getType());
  std::optional<int64_t> row = getConstantIntValue(getOffsets()[0]), col = getConstantIntValue(getOffsets()[1]);
  if (result.getRows() % box.rows || result.getCols() % box.cols)
    return emitOpError("expects sizes that are multiples of the inner box ") << shapeText(box.rows, box.cols) << ", got " << boxText(result);
  if ((row && *row % box.rows) || (col && *col % box.cols))
    return emitOpError("expects offsets that are multiples of the inner box ") << shapeText(box.rows, box.cols);
  if (source.isRowMajor() ? result.getCols() != source.getCols() || col != 0 : result.getRows() != source.getRows() || row != 0)
    return emitOpError("expects all ") << (source.isRowMajor() ? "columns of a row-major" : "rows of a column-major") << " boxed tile";
  return success();
}

LogicalResult TReshapeOp::verify() {
  auto from = cast<TileBufType>(getSrc().getType()), to = cast<TileBufType>(getResult().getType());
  if (from.getLoc() != to.getLoc())
    return emitOpError("expects a result in ") << stringifyAddressSpace(from.getLoc()) << ", got " << stringifyAddressSpace(to.getLoc());
  if (getTileBytes(from) != getTileBytes(to))
    return emitOpError("expects a result of ") << getTileBytes(from) << " bytes, got " << getTileBytes(to);
  if (from.isBoxed() != to.isBoxed())
    return emitOpError("expects source and result both boxed or both unboxed");
  return success();
}

LogicalResult BitcastOp::verify() {
  auto from = cast<TileBufType>(getSrc().getType()), to = cast<TileBufType>(getResult().getType());
  if (from.getElementType() == to.getElementType())
    return emitOpError("expects another element type than ") << from.getElementType();
  if (from.withElementType(to.getElementType()) != to)
    return emitOpError("expects a result that differs in the element type only, got ") << to << " from " << from;
  if (getTileBytes(to) > getTileBytes(from))
    return emitOpError("expects a result of at most ") << getTileBytes(from) << " bytes, got " << getTileBytes(to);
  return success();
}

LogicalResult SetValidShapeOp::verify() {
  auto type = cast<TileBufType>(getSource().getType());
  if (!type.hasDynamicValidRows() || !type.hasDynamicValidCols())
    return emitOpError("expects a tile with valid=?x?, got ") << type;
  if (getSource().getDefiningOp<SubsetOp>())
    return emitOpError("expects a tile of its own, not a subset");
  std::optional<int64_t> row = getConstantIntValue(getValidRow()), col = getConstantIntValue(getValidCol());
  if ((row && (*row < 0 || *row > type.getRows())) || (col && (*col < 0 || *col > type.getCols())))
    return emitOpError("expects a valid shape within ") << boxText(type);
  return success();
}
