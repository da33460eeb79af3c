//===- PTOElementwiseOps.cpp - what the elementwise traits do not cover ------------------===//

#include "VerifyHelpers.h"

using namespace mlir;
using namespace pto_mlir::pto;

LogicalResult TRecipOp::verify() {
  // Only the exact spelling of an architecture's name asks for distinct storage, as the assembler does.
  for (Operation *op = *this; op; op = op->getParentOp())
    if (auto arch = op->getAttrOfType<StringAttr>(kTargetArchAttr)) {
      const Target *target = findTarget(arch.getValue());
      if (target && target->distinctReciprocal && getSrc() == getDst())
        return emitOpError("expects a destination that is not the source on ") << target->name;
      break;
    }
  return success();
}

LogicalResult TRsqrtOp::verify() {
  TileBufType from = asTile(getSrc()), to = asTile(getDst());
  if (!from || !to)
    return success();
  if (from.getElementType() != to.getElementType())
    return emitOpError("expects the same element type on every tile, got ")
           << from.getElementType() << " and " << to.getElementType();
  if (!sameValid(from, to))
    return emitOpError("expects the same valid shape on every tile, got ")
           << validText(from) << " and " << validText(to);
  return success();
}

LogicalResult TSelOp::verify() {
  TileBufType a = asTile(getSrc0()), b = asTile(getSrc1()), to = asTile(getDst());
  if (!a || !b || !to)
    return success();
  if (a.getElementType() != b.getElementType() || a.getElementType() != to.getElementType())
    return emitOpError("expects the same element type on src0, src1 and dst, got ")
           << a.getElementType() << ", " << b.getElementType() << " and " << to.getElementType();
  if (to.getElementType().getIntOrFloatBitWidth() == 8 && !targetOf(*this).moreTypes)
    return emitOpError("expects elements of 2 or 4 bytes on ")
           << targetOf(*this).name << ", got " << to.getElementType();
  if (!sameValid(a, to) || !sameValid(b, to))
    return emitOpError("expects the same valid shape on src0, src1 and dst, got ")
           << validText(a) << ", " << validText(b) << " and " << validText(to);
  return success();
}

LogicalResult TCvtOp::verify() {
  TileBufType from = asTile(getSrc()), to = asTile(getDst());
  if (!from || !to)
    return success();
  if (!sameShape(from, to))
    return emitOpError("expects tiles of one shape, got ") << boxText(from) << " and " << boxText(to);
  if (!sameValid(from, to))
    return emitOpError("expects the same valid shape on every tile, got ")
           << validText(from) << " and " << validText(to);
  return success();
}

void TCvtOp::print(OpAsmPrinter &printer) {
  printer << " ins(" << getSrc();
  if (getTmp())
    printer << ", " << getTmp();
  NamedAttrList attrs((*this)->getDiscardableAttrDictionary());
  attrs.append("rmode", getRmodeAttr());
  if (SaturationModeAttr mode = getSatModeAttr())
    attrs.append("sat_mode", mode);
  printer.printOptionalAttrDict(attrs);
  printer << " : " << getSrc().getType();
  if (getTmp())
    printer << ", " << getTmp().getType();
  printer << ") outs(" << getDst() << " : " << getDst().getType() << ")";
}

ParseResult TCvtOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand src, tmp, dst;
  Type srcType, tmpType, dstType;
  bool hasTmp = false;
  if (parser.parseKeyword("ins") || parser.parseLParen() || parser.parseOperand(src))
    return failure();
  if (succeeded(parser.parseOptionalComma())) {
    hasTmp = true;
    if (parser.parseOperand(tmp))
      return failure();
  }
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(srcType) ||
      (hasTmp && (parser.parseComma() || parser.parseType(tmpType))) || parser.parseRParen() ||
      parser.parseKeyword("outs") || parser.parseLParen() || parser.parseOperand(dst) ||
      parser.parseColonType(dstType) || parser.parseRParen() || parser.resolveOperand(src, srcType, result.operands) ||
      parser.resolveOperand(dst, dstType, result.operands))
    return failure();
  if (hasTmp && parser.resolveOperand(tmp, tmpType, result.operands))
    return failure();
  return success();
}

/// The assembler looks at the sources only; a destination of another type has no instruction.
LogicalResult TShrOp::verify() {
  TileBufType a = asTile(getSrc0()), b = asTile(getSrc1());
  if (a && b && a.getElementType() != b.getElementType())
    return emitOpError("expects sources of one element type, got ")
           << a.getElementType() << " and " << b.getElementType();
  return success();
}

/// dst of a comparison is a packed mask of bytes.
static LogicalResult verifyMask(Operation *op, Value src, Value dst) {
  TileBufType from = asTile(src), to = asTile(dst);
  if (!from || !to)
    return success();
  if (!to.getElementType().isInteger(8))
    return op->emitOpError("expects a mask of i8 or ui8, got ") << to.getElementType();
  Type type = from.getElementType();
  bool legal = type.isF16() || type.isF32() || type.isInteger(32);
  legal |= isa<TCmpSOp>(op) && type.isInteger(16);
  legal |= targetOf(op).moreTypes && (type.isInteger(8) || type.isInteger(16) || type.isBF16());
  if (!legal)
    return op->emitOpError("cannot compare ") << type;
  return success();
}

LogicalResult TCmpOp::verify() {
  TileBufType a = asTile(getSrc0()), b = asTile(getSrc1());
  if (a && b && (a.getElementType() != b.getElementType() || !sameValid(a, b)))
    return emitOpError("expects sources of one element type and valid shape, got ") << a << " and " << b;
  return verifyMask(*this, getSrc0(), getDst());
}
LogicalResult TCmpSOp::verify() { return verifyMask(*this, getSrc(), getDst()); }
