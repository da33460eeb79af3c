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
  if (!sameValid(from, to))
    return emitOpError("expects the same valid shape on every tile, got ")
           << validText(from) << " and " << validText(to);
  return success();
}

LogicalResult TSelOp::verify() {
  TileBufType a = asTile(getSrc0()), b = asTile(getSrc1()), to = asTile(getDst());
  if (!a || !b || !to)
    return success();
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

/// The row takes masks of 32 bits, too; the assembler does not.
static LogicalResult verifyMask(Operation *op, Value dst) {
  TileBufType mask = asTile(dst);
  if (mask && !mask.getElementType().isInteger(8))
    return op->emitOpError("expects a mask of i8 or ui8, got ") << mask.getElementType();
  return success();
}

LogicalResult TCmpOp::verify() {
  TileBufType a = asTile(getSrc0()), b = asTile(getSrc1());
  if (a && b && !sameValid(a, b))
    return emitOpError("expects sources of one valid shape, got ") << validText(a) << " and " << validText(b);
  return verifyMask(*this, getDst());
}
LogicalResult TCmpSOp::verify() { return verifyMask(*this, getDst()); }
