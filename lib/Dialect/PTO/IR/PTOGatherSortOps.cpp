//===- PTOGatherSortOps.cpp - gather, scatter, sort, generated tiles -------------------===//

#include "VerifyHelpers.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace pto_mlir::pto;

//===- tgather ----------------------------------------------------------------------===//

static ParseResult parsePattern(OpAsmParser &parser, OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  Attribute pattern;
  if (parser.parseAttribute(pattern))
    return failure();
  if (!isa<MaskPatternAttr>(pattern))
    return parser.emitError(loc, "expects #pto.mask_pattern<Pxxxx>");
  result.addAttribute("maskPattern", pattern);
  return success();
}

/// ` ins(values <attribute> : types) outs(values : types)`; `attribute` is what `printAttribute` prints.
static void printInsOuts(OpAsmPrinter &printer, Operation *op, ArrayRef<Value> ins, ArrayRef<Value> outs,
                         StringRef attribute, function_ref<void()> printAttribute) {
  printer << " ins(";
  llvm::interleaveComma(ins, printer);
  printAttribute();
  printer << " : ";
  llvm::interleaveComma(ValueRange(ins).getTypes(), printer);
  printer << ") outs(";
  llvm::interleaveComma(outs, printer);
  printer << " : ";
  llvm::interleaveComma(ValueRange(outs).getTypes(), printer);
  printer << ")";
  printer.printOptionalAttrDict(op->getAttrs(), {attribute, "operandSegmentSizes"});
}

ParseResult TGatherOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> ins(1), outs(1);
  SmallVector<Type> inTypes(1), outTypes(1);
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword("ins") || parser.parseLParen() || parser.parseOperand(ins[0]) || parser.parseComma())
    return failure();
  if (succeeded(parser.parseOptionalLBrace())) {
    if (parser.parseKeyword("maskPattern") || parser.parseEqual() || parsePattern(parser, result) ||
        parser.parseRBrace())
      return failure();
  } else {
    do
      if (parser.parseOperand(ins.emplace_back()))
        return failure();
    while (succeeded(parser.parseOptionalComma()));
  }
  if (parser.parseColonType(inTypes[0]))
    return failure();
  while (inTypes.size() < ins.size())
    if (parser.parseComma() || parser.parseType(inTypes.emplace_back()))
      return failure();
  if (parser.parseRParen() || parser.parseKeyword("outs") || parser.parseLParen() || parser.parseOperand(outs[0]))
    return failure();
  if (succeeded(parser.parseOptionalComma()) && parser.parseOperand(outs.emplace_back()))
    return failure();
  if (parser.parseColonType(outTypes[0]) ||
      (outs.size() > 1 && (parser.parseComma() || parser.parseType(outTypes.emplace_back()))) || parser.parseRParen())
    return failure();
  if (!result.attributes.get("maskPattern") && succeeded(parser.parseOptionalKeyword("maskPattern")) &&
      (parser.parseEqual() || parsePattern(parser, result)))
    return failure();
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();

  // Which form it is follows from the operands; what does not fit any is left to the verifier.
  bool compare = outs.size() > 1, pattern = static_cast<bool>(result.attributes.get("maskPattern"));
  if (ins.size() > (pattern ? 1u : 3u))
    return parser.emitError(loc, pattern ? "expects one source beside a pattern" : "expects at most three sources");
  SmallVector<OpAsmParser::UnresolvedOperand> operands = {ins[0], outs[0]};
  SmallVector<Type> types = {inTypes[0], outTypes[0]};
  auto add = [&](const OpAsmParser::UnresolvedOperand &operand, Type type) {
    operands.push_back(operand);
    types.push_back(type);
  };
  bool second = ins.size() > 1, tmp = ins.size() > 2;
  if (compare)
    add(outs[1], outTypes[1]);
  if (second && !compare)
    add(ins[1], inTypes[1]);
  if (tmp)
    add(ins[2], inTypes[2]);
  if (second && compare)
    add(ins[1], inTypes[1]);
  if (parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  result.getOrAddProperties<Properties>().operandSegmentSizes = {
      1, 1, compare, second && !compare, tmp, second && compare};
  return success();
}

void TGatherOp::print(OpAsmPrinter &printer) {
  SmallVector<Value> ins = {getSrc()}, outs = {getDst()};
  for (Value value : {static_cast<Value>(getKValue()), static_cast<Value>(getIndices()), static_cast<Value>(getTmp())})
    if (value)
      ins.push_back(value);
  if (getCdst())
    outs.push_back(getCdst());
  printInsOuts(printer, *this, ins, outs, "maskPattern", [&] {
    if (getMaskPatternAttr())
      printer << ", {maskPattern = " << getMaskPatternAttr() << "}";
  });
}

LogicalResult TGatherOp::verify() {
  TileBufType from = asTile(getSrc()), to = asTile(getDst());
  if (getMaskPatternAttr()) {
    if (getCdst() || getIndices() || getTmp() || getKValue())
      return emitOpError("expects only a source and a destination beside a pattern");
    if (from && to && getElementBits(from.getElementType()) != getElementBits(to.getElementType()))
      return emitOpError("expects elements of one size, got ")
             << from.getElementType() << " and " << to.getElementType();
    if (from && getElementBits(from.getElementType()) == 8 && !targetOf(*this).moreTypes)
      return emitOpError("expects elements of 2 or 4 bytes on ")
             << targetOf(*this).name << ", got " << from.getElementType();
    return success();
  }
  if (getCdst() || getKValue()) {
    if (!getCdst() || !getKValue() || !getTmp() || getIndices())
      return emitOpError("expects a source, a scalar and a tmp, two destinations, and no indices in a comparison");
    if (to && !to.getElementType().isInteger(32))
      return emitOpError("expects a destination of i32, got ") << to.getElementType();
    if (from && !sameScalar(getKValue().getType(), from.getElementType()))
      return emitOpError("expects a scalar of ") << from.getElementType() << ", got " << getKValue().getType();
    CmpMode mode = getCmpMode().value_or(CmpMode::eq);
    if (mode != CmpMode::eq && mode != CmpMode::gt)
      return emitOpError("expects cmpMode eq or gt, got ") << stringifyCmpMode(mode);
    Type type = from ? from.getElementType() : Type();
    bool more = targetOf(*this).moreTypes;
    if (type && !type.isF16() && !type.isF32() && !(type.isInteger(32) && (mode == CmpMode::eq || more)) &&
        !(type.isInteger(16) && more))
      return emitOpError("cannot compare ") << type << "; expects f16 or f32, or i32 with cmpMode eq";
    return success();
  }
  if (!getIndices() || !getTmp())
    return emitOpError("expects indices and a tmp, or a scalar with two destinations, or a pattern");
  TileBufType index = asTile(getIndices());
  if (index && !index.getElementType().isInteger(32) &&
      !(targetOf(*this).moreTypes && index.getElementType().isInteger(16)))
    return emitOpError("expects indices of i32")
           << (targetOf(*this).moreTypes ? " or i16" : "") << ", got " << index.getElementType();
  if (from && to && from.getElementType() != to.getElementType())
    return emitOpError("expects one element type, got ") << from.getElementType() << " and " << to.getElementType();
  return success();
}

//===- other gathers and scatters -----------------------------------------------------===//

LogicalResult TGatherBOp::verify() {
  TileBufType to = asTile(getDst());
  if (!to)
    return success();
  if (!to.isRowMajor() && !targetOf(*this).columnMajorOperands)
    return emitOpError("expects a row-major destination, got ") << to;
  return success();
}

Pipe TScatterOp::getPipe() { return targetOf(*this).vectorScatter ? Pipe::PIPE_V : Pipe::PIPE_S; }
LogicalResult TScatterOp::verify() {
  TileBufType from = asTile(getSrc()), to = asTile(getDst()), index = asTile(getIndexes());
  if (!from || !to || !index)
    return success();
  if (from.getElementType() != to.getElementType())
    return emitOpError("expects one element type, got ") << from.getElementType() << " and " << to.getElementType();
  unsigned bits = getElementBits(from.getElementType()), wanted = bits == 8 ? 16 : bits;
  if (bits != 8 && bits != 16 && bits != 32)
    return emitOpError("expects elements of 1, 2 or 4 bytes, got ") << from.getElementType();
  if (!index.getElementType().isInteger(wanted))
    return emitOpError("expects indexes of i")
           << wanted << " for " << from.getElementType() << ", got " << index.getElementType();
  return success();
}

/// Tile and indices of mgather and mscatter.
static LogicalResult verifyGlobalIndexed(Operation *op, Value data, Value idx) {
  TileBufType tile = asTile(data), index = asTile(idx);
  if (!tile || !index)
    return success();
  if (!index.getElementType().isSignlessInteger(32))
    return op->emitOpError("expects indices of i32, got ") << index.getElementType();
  if (index.getRows() != tile.getRows() || (index.getCols() != 1 && index.getCols() != tile.getCols()))
    return op->emitOpError("expects indices of the tile's shape or one column of its rows, got ")
           << boxText(index) << " for " << boxText(tile);
  return success();
}
LogicalResult MGatherOp::verify() { return verifyGlobalIndexed(*this, getDst(), getIdx()); }
LogicalResult MScatterOp::verify() {
  if (failed(verifyGlobalIndexed(*this, getSrc(), getIdx())))
    return failure();
  Type type = elementTypeOf(getSrc().getType());
  bool f32 = type.isF32(), i32 = type.isInteger(32);
  if ((getScatterAtomicOp() == ScatterAtomicOp::add && !f32 && !i32 && !type.isF16()) ||
      ((getScatterAtomicOp() == ScatterAtomicOp::max || getScatterAtomicOp() == ScatterAtomicOp::min) && !f32 &&
       !type.isSignlessInteger(32)))
    return emitOpError("cannot ") << stringifyScatterAtomicOp(getScatterAtomicOp()) << " atomically in " << type;
  return success();
}

//===- sort ---------------------------------------------------------------------------===//

LogicalResult TSort32Op::verify() {
  TileBufType index = asTile(getIdx());
  if (index && !index.getElementType().isUnsignedInteger(32)) // the row takes i32, too
    return emitOpError("expects indices of ui32, got ") << index.getElementType();
  return success();
}

ParseResult TMrgSortOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> ins, outs;
  SmallVector<Type> inTypes, outTypes;
  SMLoc loc = parser.getCurrentLocation();
  auto list = [](SmallVector<OpAsmParser::UnresolvedOperand> &operands, OpAsmParser &parser) {
    return parser.parseCommaSeparatedList([&]() { return parser.parseOperand(operands.emplace_back()); });
  };
  auto typeList = [](SmallVector<Type> &types, OpAsmParser &parser) {
    return parser.parseCommaSeparatedList([&]() { return parser.parseType(types.emplace_back()); });
  };
  if (parser.parseKeyword("ins") || parser.parseLParen() || list(ins, parser) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() || typeList(inTypes, parser) ||
      parser.parseRParen() || parser.parseKeyword("outs") || parser.parseLParen() || list(outs, parser) ||
      parser.parseColon() || typeList(outTypes, parser) || parser.parseRParen() ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  bool merge = outs.size() == 2;
  if (merge ? ins.size() < 3 || ins.size() > 5 : ins.size() != 2 || outs.size() != 1)
    return parser.emitError(loc, "expects (source, run length) and one destination, or two to four sources and a tmp, "
                                 "a destination and a vector");
  if (ins.size() != inTypes.size() || outs.size() != outTypes.size())
    return parser.emitError(loc, "expects one type per operand");
  SmallVector<OpAsmParser::UnresolvedOperand> operands(ins);
  SmallVector<Type> types(inTypes);
  int32_t sources = merge ? ins.size() - 1 : 1;
  // Operand order: sources, run length, destination, tmp, vector.
  if (merge) {
    operands.insert(operands.end() - 1, outs[0]);
    types.insert(types.end() - 1, outTypes[0]);
    operands.push_back(outs[1]);
    types.push_back(outTypes[1]);
  } else {
    operands.push_back(outs[0]);
    types.push_back(outTypes[0]);
  }
  if (parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  result.getOrAddProperties<Properties>().operandSegmentSizes = {sources, !merge, 1, merge, merge};
  return success();
}

void TMrgSortOp::print(OpAsmPrinter &printer) {
  SmallVector<Value> ins(getSrcs()), outs(getDsts());
  for (Value value : {static_cast<Value>(getBlockLen()), static_cast<Value>(getTmp())})
    if (value)
      ins.push_back(value);
  if (getExecuted())
    outs.push_back(getExecuted());
  printInsOuts(printer, *this, ins, outs, "exhausted", [&] {
    if (getExecuted())
      printer << " {exhausted = " << (getExhausted() ? "true" : "false") << "}";
  });
}

LogicalResult TMrgSortOp::verify() {
  if (getDsts().size() != 1 ||
      (getBlockLen() ? getSrcs().size() != 1 || getTmp() || getExecuted()
                     : getSrcs().size() < 2 || getSrcs().size() > 4 || !getTmp() || !getExecuted()))
    return emitOpError("expects (source, run length) and one destination, or two to four sources and a tmp, a "
                       "destination and a vector");
  TileBufType to = asTile(getDsts().front());
  for (Value value : getSrcs())
    if (TileBufType from = asTile(value); from && to && from.getElementType() != to.getElementType())
      return emitOpError("expects one element type, got ") << from.getElementType() << " and " << to.getElementType();
  if (to && getBlockLen()) {
    TileBufType from = asTile(getSrcs().front());
    if (!to.getElementType().isF16() && !to.getElementType().isF32())
      return emitOpError("expects f16 or f32, got ") << to.getElementType();
    if (from && (from.getRows() != 1 || to.getRows() != 1 || from.getCols() != to.getCols()))
      return emitOpError("expects two tiles of one row and the same columns, got ")
             << boxText(from) << " and " << boxText(to);
    std::optional<int64_t> length = getConstantIntValue(getBlockLen());
    if (length && (*length <= 0 || *length % 64 != 0))
      return emitOpError("expects a run length that is a positive multiple of 64, got ") << *length;
  }
  if (getExecuted()) {
    auto vector = dyn_cast<VectorType>(getExecuted().getType());
    if (!vector || vector.getShape() != ArrayRef<int64_t>{4} || !vector.getElementType().isInteger(16))
      return emitOpError("expects vector<4xi16> as second destination, got ") << getExecuted().getType();
    TileBufType tmp = asTile(getTmp());
    if (to && tmp && (tmp.getElementType() != to.getElementType() || !sameShape(tmp, to)))
      return emitOpError("expects a tmp of the destination's shape and element type, got ") << tmp;
  }
  return success();
}

//===- generated tiles ---------------------------------------------------------------===//

LogicalResult THistogramOp::verify() {
  TileBufType from = asTile(getSrc()), index = asTile(getIdx()), to = asTile(getDst());
  if (!from || !index || !to)
    return success();
  if (index.isRowMajor() || index.getCols() != 1)
    return emitOpError("expects indices in one column (Rx1, blayout=col_major), got ") << index;
  if (to.getCols() < 256)
    return emitOpError("expects at least 256 columns in the destination, got ") << to.getCols();
  if (!sameExtent(from.getValidRows(), to.getValidRows()) || !sameExtent(from.getValidRows(), index.getValidRows()))
    return emitOpError("expects as many valid rows in each tile, got ")
           << validText(from) << ", " << validText(index) << " and " << validText(to);
  return success();
}

LogicalResult TTriOp::verify() {
  if (getUpperOrLower() != 0 && getUpperOrLower() != 1)
    return emitOpError("expects upperOrLower 0 (lower) or 1 (upper), got ") << getUpperOrLower();
  return success();
}

LogicalResult TRandomOp::verify() {
  if (getRounds() != 7 && getRounds() != 10)
    return emitOpError("expects 7 or 10 rounds, got ") << getRounds();
  TileBufType to = asTile(getDst());
  if (to && !to.isRowMajor())
    return emitOpError("expects a row-major destination, got ") << to;
  return success();
}
