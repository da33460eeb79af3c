//===- PTOExpandOps.cpp - a row or a column spread over a tile ---------------------------------===//

#include "VerifyHelpers.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

using namespace mlir;
using namespace pto_mlir::pto;

LogicalResult TRowExpandOp::verify() {
  TileBufType from = asTile(getSrc()), to = asTile(getDst());
  if (from && to && !sameExtent(from.getValidRows(), to.getValidRows()))
    return emitOpError("expects as many valid rows in the source as in the destination, got ")
           << validText(from) << " for " << validText(to);
  return success();
}

LogicalResult TColExpandOp::verify() {
  TileBufType from = asTile(getSrc()), to = asTile(getDst());
  if (from && to && !sameExtent(from.getValidCols(), to.getValidCols()))
    return emitOpError("expects as many valid columns in the source as in the destination, got ")
           << validText(from) << " for " << validText(to);
  return success();
}

LogicalResult pto_mlir::pto::verifyColExpand(Operation *op, Value src0, Value src1, Value dst) {
  TileBufType tile = asTile(src0), row = asTile(src1), to = asTile(dst);
  if (!tile || !row || !to)
    return success();
  if (!sameShape(tile, to))
    return op->emitOpError("expects src0 of the destination's shape, got ") << boxText(tile) << " for " << boxText(to);
  if (!sameExtent(row.getValidCols(), to.getValidCols()))
    return op->emitOpError("expects a row of the destination's valid columns, got ")
           << validText(row) << " for " << validText(to);
  return success();
}

LogicalResult pto_mlir::pto::verifyRowExpand(Operation *op, Value src0, Value src1, Value dst, bool strict) {
  TileBufType tile = asTile(src0), column = asTile(src1), to = asTile(dst);
  if (!tile || !column || !to)
    return success();
  if (!tile.isRowMajor() || !to.isRowMajor())
    return op->emitOpError("expects a row-major src0 and destination, got ") << tile << " and " << to;
  if (!sameValid(tile, to))
    return op->emitOpError("expects src0 of the destination's valid shape, got ")
           << validText(tile) << " for " << validText(to);
  if (!sameExtent(column.getValidRows(), to.getValidRows()))
    return op->emitOpError("expects a column of the destination's valid rows, got ")
           << validText(column) << " for " << validText(to);
  int64_t width = column.isRowMajor() ? getC0(column.getElementType()) : 1;
  if (strict && !sameExtent(column.getValidCols(), width))
    return op->emitOpError("expects ") << width << " valid columns in a "
                                       << (column.isRowMajor() ? "row-major" : "column-major") << " src1, got "
                                       << validText(column);
  return success();
}

LogicalResult pto_mlir::pto::verifyNoTmp(Operation *op, Value tmp) {
  if (tmp && targetOf(op).noExpandScratch)
    return op->emitOpError("takes no tmp on ") << targetOf(op).name;
  return success();
}

LogicalResult TRowExpandAddOp::verify() { return verifyRowExpand(*this, getSrc0(), getSrc1(), getDst(), true); }
