//===- PTOTraits.cpp - verification of relations between tile operands ------------===//

#include "pto_mlir/Dialect/PTO/IR/PTOTraits.h"
#include "VerifyHelpers.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace pto_mlir::pto;

const Target &pto_mlir::pto::targetNamed(StringRef name) {
  for (const Target &target : allTargets())
    if (name.equals_insensitive(target.name))
      return target;
  return defaultTarget();
}

const Target &pto_mlir::pto::targetOf(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto arch = op->getAttrOfType<StringAttr>(kTargetArchAttr))
      return targetNamed(arch.getValue());
  return defaultTarget();
}

Pipe pto_mlir::pto::pipeOn(const Target &target, Pipe pipe) {
  auto number = static_cast<uint32_t>(pipe);
  return number < target.engines.size() ? static_cast<Pipe>(target.engines[number]) : pipe;
}

Pipe pto_mlir::pto::pipeOf(Operation *op) { return pipeOn(targetOf(op), cast<PipeOpInterface>(op).getPipe()); }

std::string pto_mlir::pto::targetsWith(bool Target::*rule) {
  std::string names;
  for (const Target &target : allTargets())
    if (target.*rule)
      names.append(names.empty() ? "" : ", ").append(target.name);
  return names;
}

/// The tile_buf operands of the op, in order.
static SmallVector<TileBufType> tileOperands(Operation *op) {
  SmallVector<TileBufType> tiles;
  for (Type type : op->getOperandTypes())
    if (auto tile = dyn_cast<TileBufType>(type))
      tiles.push_back(tile);
  return tiles;
}

LogicalResult pto_mlir::pto::detail::verifyValidParts(Operation *op) {
  for (TileBufType tile : tileOperands(op))
    if (tile.getValidRows() > tile.getRows() || tile.getValidCols() > tile.getCols()) // `?` is negative
      return op->emitOpError("expects a valid part within the ") << boxText(tile) << " box, got " << validText(tile);
  return success();
}

LogicalResult pto_mlir::pto::detail::verifyFilledTiles(Operation *op) {
  for (TileBufType tile : tileOperands(op))
    if (tile.getRows() == 0 || tile.getCols() == 0)
      return op->emitOpError("expects tiles with positive rows and columns, got ") << boxText(tile);
  return success();
}

LogicalResult pto_mlir::pto::detail::verifyRowMajorTiles(Operation *op) {
  for (TileBufType tile : tileOperands(op))
    if (!tile.isRowMajor())
      return op->emitOpError("expects blayout=row_major on every tile, got ") << tile;
  return success();
}

LogicalResult pto_mlir::pto::detail::verifySameElementType(Operation *op) {
  SmallVector<TileBufType> tiles = tileOperands(op);
  for (TileBufType tile : tiles)
    if (tile.getElementType() != tiles.front().getElementType())
      return op->emitOpError("expects the same element type on every tile, got ")
             << tiles.front().getElementType() << " and " << tile.getElementType();
  return success();
}

LogicalResult pto_mlir::pto::detail::verifySameValid(Operation *op) {
  SmallVector<TileBufType> tiles = tileOperands(op);
  for (TileBufType tile : tiles)
    if (!sameValid(tile, tiles.front()))
      return op->emitOpError("expects the same valid shape on every tile, got ")
             << validText(tiles.front()) << " and " << validText(tile);
  return success();
}

LogicalResult pto_mlir::pto::detail::verifyOnlyOnA5(Operation *op) {
  if (targetOf(op).addedOps)
    return success();
  return op->emitOpError("exists on ") << targetsWith(&Target::addedOps)
                                       << " only; the module says otherwise (pto.target_arch)";
}

LogicalResult pto_mlir::pto::detail::verifyDistinctDestination(Operation *op) {
  if (op->getNumOperands() == 0)
    return success();
  Value dst = op->getOperands().back();
  for (Value source : op->getOperands().drop_back())
    if (source == dst)
      return op->emitOpError("expects a destination that is none of the sources");
  return success();
}
