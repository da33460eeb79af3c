//===- PTOReductionOps.cpp - rows and columns to one ------------------------------------------===//

#include "VerifyHelpers.h"

using namespace mlir;
using namespace pto_mlir::pto;

LogicalResult pto_mlir::pto::verifyRowReduction(Operation *op, Value src, Value scratch, Value dst) {
  TileBufType from = asTile(src), tmp = asTile(scratch), to = asTile(dst);
  if (!from || !to)
    return success();
  if (!from.isRowMajor() || from.isBoxed())
    return op->emitOpError("expects a row-major unboxed source, got ") << from;
  if (!sameExtent(to.getValidCols(), 1))
    return op->emitOpError("expects one valid column in the destination, got ") << validText(to);
  if (!sameExtent(to.getValidRows(), from.getValidRows()))
    return op->emitOpError("expects as many valid rows in the destination as in the source, got ")
           << validText(to) << " for " << validText(from);
  if (!to.isRowMajor() && to.getCols() != 1)
    return op->emitOpError("expects a column-major destination of one column, got ") << to;
  if (tmp && (!tmp.isRowMajor() || tmp.getElementType() != from.getElementType() || !sameValid(tmp, from)))
    return op->emitOpError("expects a row-major tmp with the source's element type and valid shape, got ") << tmp;
  return success();
}

LogicalResult pto_mlir::pto::verifyColReduction(Operation *op, Value src, Value dst) {
  TileBufType from = asTile(src), to = asTile(dst);
  if (!from || !to)
    return success();
  if (!sameExtent(to.getValidCols(), from.getValidCols()))
    return op->emitOpError("expects as many valid columns in the destination as in the source, got ")
           << validText(to) << " for " << validText(from);
  if (!sameExtent(to.getValidRows(), 1))
    return op->emitOpError("expects one valid row in the destination, got ") << validText(to);
  return success();
}

LogicalResult TColSumOp::verify() {
  if (static_cast<bool>(getTmp()) != static_cast<bool>(getIsBinaryAttr()))
    return emitOpError("expects tmp and isBinary together");
  return verifyColReduction(*this, getSrc(), getDst());
}
