//===- PTOTileScalarOps.cpp - what the tile-scalar traits do not cover ---------------------===//

#include "VerifyHelpers.h"

using namespace mlir;
using namespace pto_mlir::pto;

/// The scalar has the tile's element type (signless for an unsigned tile).
static LogicalResult verifyScalarType(Operation *op, Type scalar, TileBufType tile) {
  if (!tile)
    return success();
  Type element = tile.getElementType();
  if (scalar == element || (element.isInteger() && scalar.isSignlessInteger(element.getIntOrFloatBitWidth())))
    return success();
  return op->emitOpError("expects a scalar of ") << element << ", got " << scalar;
}

LogicalResult TLReluOp::verify() {
  if (!getScalar().getType().isF32())
    return emitOpError("expects a slope of f32, got ") << getScalar().getType();
  return success();
}
LogicalResult TFModSOp::verify() { return verifyScalarType(*this, getScalar().getType(), asTile(getSrc())); }
LogicalResult TAxpyOp::verify() { return verifyScalarType(*this, getScalar().getType(), asTile(getSrc())); }

LogicalResult TDivSOp::verify() {
  if (getSrc0().getType().isIntOrFloat() == getSrc1().getType().isIntOrFloat())
    return emitOpError("expects one tile and one scalar, got ")
           << getSrc0().getType() << " and " << getSrc1().getType();
  return success();
}

Pipe TExpandSOp::getPipe() {
  TileBufType tile = asTile(getDst());
  return tile && tile.getLoc() == AddressSpace::mat ? Pipe::PIPE_MTE2 : Pipe::PIPE_V;
}
LogicalResult TExpandSOp::verify() {
  TileBufType tile = asTile(getDst());
  if (tile && !isIn(tile.getLoc(), {AddressSpace::vec, AddressSpace::mat}))
    return emitOpError("expects a vec or mat tile, got ") << stringifyAddressSpace(tile.getLoc());
  return verifyScalarType(*this, getScalar().getType(), tile);
}

ParseResult TCIOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand start, dst;
  Type startType, dstType;
  return failure(
      parser.parseKeyword("ins") || parser.parseLParen() || parser.parseOperand(start) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(startType) || parser.parseRParen() ||
      parser.parseKeyword("outs") || parser.parseLParen() || parser.parseOperand(dst) ||
      parser.parseColonType(dstType) || parser.parseRParen() || parser.parseOptionalAttrDict(result.attributes) ||
      parser.resolveOperand(start, startType, result.operands) || parser.resolveOperand(dst, dstType, result.operands));
}

void TCIOp::print(OpAsmPrinter &p) {
  p << " ins(" << getStart();
  p.printOptionalAttrDict((*this)->getAttrs(),
                          getDescending() ? ArrayRef<StringRef>() : ArrayRef<StringRef>(getDescendingAttrName()));
  p << " : " << getStart().getType() << ") outs(" << getDst() << " : " << getDst().getType() << ")";
}

LogicalResult TCIOp::verify() {
  TileBufType tile = asTile(getDst());
  if (!tile)
    return success();
  if (!sameScalar(getStart().getType(), tile.getElementType()))
    return emitOpError("expects a start of the tile's type, got ")
           << getStart().getType() << " for " << tile.getElementType();
  if (tile.getCols() == 1)
    return emitOpError("expects more than one column");
  return success();
}
