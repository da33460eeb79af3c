//===- PTODataMovementOps.cpp - between memories ----------------------------------------===//

#include "VerifyHelpers.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Support/MathExtras.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace pto_mlir::pto;

static unsigned elementBits(Value value) {
  Type type = elementTypeOf(value.getType());
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

LogicalResult TLoadOp::verify() {
  TileBufType tile = asTile(getDst());
  if (!tile)
    return success();
  if (llvm::isa<TileBufType>(getSrc().getType()))
    return emitOpError("expects a part of global memory as source, got ") << getSrc().getType();
  if (elementBits(getSrc()) != elementBits(getDst()))
    return emitOpError("expects source and destination elements of one size, got ")
           << elementTypeOf(getSrc().getType()) << " and " << tile.getElementType();
  if (targetOf(*this).freeTransfers)
    return success();
  if (!isIn(tile.getLoc(), {AddressSpace::vec, AddressSpace::mat}))
    return emitOpError("expects a vec or mat tile as destination, got ") << stringifyAddressSpace(tile.getLoc());
  return success();
}

Pipe TStoreOp::getPipe() {
  TileBufType tile = asTile(getSrc());
  return tile && tile.getLoc() == AddressSpace::acc ? Pipe::PIPE_FIX : Pipe::PIPE_MTE3;
}

LogicalResult TStoreOp::verify() {
  TileBufType tile = asTile(getSrc());
  if (!tile)
    return success();
  bool free = targetOf(*this).freeTransfers, acc = tile.getLoc() == AddressSpace::acc;
  if (!acc && tile.getLoc() != AddressSpace::vec && (free || tile.getLoc() != AddressSpace::mat))
    return emitOpError("expects a tile in ")
           << (free ? "vec or acc" : "vec, mat or acc") << ", got " << stringifyAddressSpace(tile.getLoc());
  if (!acc && (getReluPreMode() != ReluPreMode::no_relu || getPreQuantScalar()))
    return emitOpError("expects an acc tile for relu or quantisation, got ") << stringifyAddressSpace(tile.getLoc());
  Type to = elementTypeOf(getDst().getType());
  if (acc) {
    if (!tile.getElementType().isF32() && !tile.getElementType().isInteger(32))
      return emitOpError("expects an acc tile of f32 or i32, got ") << tile.getElementType();
    if (!getPreQuantScalar() && !to.isF32() && !to.isF16() && !to.isBF16() && !to.isInteger(32))
      return emitOpError("expects i32, f32, f16 or bf16 in global memory without quantisation, got ") << to;
    if (!free && tile.getCols() > 4095)
      return emitOpError("expects at most 4095 columns, got ") << tile.getCols();
  } else if (elementBits(getSrc()) != elementBits(getDst())) {
    return emitOpError("expects source and destination elements of one size, got ")
           << tile.getElementType() << " and " << to;
  }
  auto view = dyn_cast<PartitionTensorViewType>(getDst().getType());
  if (!view || !view.hasStaticShape() || !tile.hasStaticValid())
    return success();
  int64_t stored = 1, valid = tile.getValidRows() * tile.getValidCols();
  for (int64_t dim : view.getShape())
    stored *= dim;
  if (stored != valid)
    return emitOpError("expects a view of ") << valid << " elements (valid " << validText(tile) << "), got " << stored;
  return success();
}

Pipe TMovOp::getPipe() {
  TileBufType from = asTile(getSrc());
  TileBufType to = asTile(getDst());
  // Descriptors go by FIX, which reads them, as the ISA has it (TMOV_M2S); the assembler orders them as if by MTE1.
  if (from && from.getLoc() == AddressSpace::mat)
    return to && to.getLoc() == AddressSpace::scaling && getScaleUse(getDst()) == ScaleUse::none ? Pipe::PIPE_FIX
                                                                                                 : Pipe::PIPE_MTE1;
  if (from && from.getLoc() == AddressSpace::acc)
    return Pipe::PIPE_FIX;
  // Out of UB moves MTE3, which the assembler takes for V.
  return to && to.getLoc() == AddressSpace::mat ? Pipe::PIPE_MTE3 : Pipe::PIPE_V;
}

ParseResult TMovOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand, 3> operands(1);
  SmallVector<Type, 3> types(1);
  if (parser.parseKeyword("ins") || parser.parseLParen() || parser.parseOperand(operands[0]) ||
      parser.parseColonType(types[0]))
    return failure();
  while (succeeded(parser.parseOptionalComma()))
    if (operands.size() > 2 || parser.parseOperand(operands.emplace_back()) ||
        parser.parseColonType(types.emplace_back()))
      return parser.emitError(parser.getCurrentLocation(),
                              "expects at most a quantisation tile and an i64 scalar after the source");
  OpAsmParser::UnresolvedOperand dst;
  Type dstType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseRParen() || parser.parseKeyword("outs") || parser.parseLParen() || parser.parseOperand(dst) ||
      parser.parseColonType(dstType) || parser.parseRParen() || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  bool hasScalar = types.size() > 1 && types.back().isInteger(64), hasTile = types.size() > (hasScalar ? 2u : 1u);
  operands.insert(operands.begin() + 1, dst);
  types.insert(types.begin() + 1, dstType);
  if (parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  result.getOrAddProperties<Properties>().operandSegmentSizes = {1, 1, hasTile, hasScalar};
  return success();
}

void TMovOp::print(OpAsmPrinter &printer) {
  printer << " ins(" << getSrc() << " : " << getSrc().getType();
  for (Value value : {static_cast<Value>(getFp()), static_cast<Value>(getPreQuantScalar())})
    if (value)
      printer << ", " << value << " : " << value.getType();
  printer << ") outs(" << getDst() << " : " << getDst().getType() << ")";
  SmallVector<StringRef> elided = {"operandSegmentSizes"};
  if (getReluPreMode() == ReluPreMode::no_relu)
    elided.push_back("reluPreMode");
  printer.printOptionalAttrDict((*this)->getAttrs(), elided);
}

LogicalResult TMovOp::verify() {
  TileBufType from = asTile(getSrc()), to = asTile(getDst());
  if (!from || !to)
    return success();
  const Target &arch = targetOf(*this);
  bool legal = false;
  switch (from.getLoc()) {
  case AddressSpace::mat:
    legal = isIn(to.getLoc(), {AddressSpace::left, AddressSpace::right, AddressSpace::bias, AddressSpace::scaling});
    break;
  case AddressSpace::vec:
    legal = to.getLoc() == AddressSpace::vec || (arch.directTiles && to.getLoc() == AddressSpace::mat);
    break;
  case AddressSpace::acc:
    legal = isIn(to.getLoc(), {AddressSpace::vec, AddressSpace::mat});
    break;
  default:
    break;
  }
  if (!legal)
    return emitOpError("cannot move from ")
           << stringifyAddressSpace(from.getLoc()) << " to " << stringifyAddressSpace(to.getLoc());
  if ((from.getLoc() == AddressSpace::mat || !arch.freeTransfers) && !sameShape(from, to))
    return emitOpError("expects tiles of one shape, got ") << boxText(from) << " and " << boxText(to);
  if (getReluPreMode() != ReluPreMode::no_relu && from.getLoc() != AddressSpace::acc)
    return emitOpError("expects an acc source for relu, got ") << stringifyAddressSpace(from.getLoc());
  if (TileBufType fp = asTile(getFp()); fp && fp.getLoc() != AddressSpace::scaling)
    return emitOpError("expects the quantisation tile in scaling, got ") << stringifyAddressSpace(fp.getLoc());
  return success();
}

/// MTE1 from L1 to L0, FIX from L0C, MTE3 from UB to L1 (a5), V inside UB.
static Pipe partMovePipe(TileBufType from, TileBufType to) {
  if (from && from.getLoc() == AddressSpace::mat)
    return Pipe::PIPE_MTE1;
  if (from && from.getLoc() == AddressSpace::acc)
    return Pipe::PIPE_FIX;
  if (from && to && from.getLoc() == AddressSpace::vec && to.getLoc() == AddressSpace::mat)
    return Pipe::PIPE_MTE3;
  return Pipe::PIPE_V;
}

Pipe TExtractOp::getPipe() { return partMovePipe(asTile(getSrc()), asTile(getDst())); }
Pipe TInsertOp::getPipe() { return partMovePipe(asTile(getSrc()), asTile(getDst())); }

/// Constant (row, col) plus the part's box lies within the whole.
static LogicalResult verifyInside(Operation *op, Value row, Value col, TileBufType part, TileBufType whole) {
  std::optional<int64_t> r = getConstantIntValue(row), c = getConstantIntValue(col);
  int64_t rows = part.getRows(), cols = part.getCols();
  // A tile of scales has its operand's shape, but one element for each group along k; of 16 bits, for each pair.
  if (part.getLoc() == AddressSpace::scaling) {
    int64_t group = 4 * getElementBits(part.getElementType());
    ScaleUse use = getScaleUse(cast<TExtractOp>(op).getDst());
    rows = use == ScaleUse::left ? rows : llvm::divideCeil(rows, group);
    cols = use == ScaleUse::right ? cols : llvm::divideCeil(cols, group);
  }
  if ((r && (*r < 0 || *r + rows > whole.getRows())) || (c && (*c < 0 || *c + cols > whole.getCols())))
    return op->emitOpError("expects the part ")
           << boxText(part) << " at (" << r.value_or(0) << ", " << c.value_or(0) << ") within " << boxText(whole);
  return success();
}

/// Between tiles of UB (a5), parts move in row-major order only.
static LogicalResult verifyVecToVec(Operation *op, TileBufType from, TileBufType to) {
  if (from.getLoc() != AddressSpace::vec || to.getLoc() != AddressSpace::vec)
    return success();
  for (TileBufType tile : {from, to})
    if (!tile.isRowMajor() || tile.isBoxed())
      return op->emitOpError("expects blayout=row_major, slayout=none_box between vec tiles, got ") << tile;
  return success();
}

LogicalResult TExtractOp::verify() {
  TileBufType from = asTile(getSrc()), to = asTile(getDst());
  if (!from || !to)
    return success();
  bool direct = targetOf(*this).directTiles;
  bool legal =
      from.getLoc() == AddressSpace::mat && (isIn(to.getLoc(), {AddressSpace::left, AddressSpace::right}) ||
                                             (targetOf(*this).freeTransfers && to.getLoc() == AddressSpace::scaling));
  legal |= from.getLoc() == AddressSpace::vec &&
           (to.getLoc() == AddressSpace::vec || (direct && to.getLoc() == AddressSpace::mat));
  if (!legal)
    return emitOpError("cannot extract from ")
           << stringifyAddressSpace(from.getLoc()) << " to " << stringifyAddressSpace(to.getLoc());
  if (from.getElementType() != to.getElementType())
    return emitOpError("expects one element type, got ") << from.getElementType() << " and " << to.getElementType();
  if (failed(verifyVecToVec(*this, from, to)))
    return failure();
  return verifyInside(*this, getIndexRow(), getIndexCol(), to, from);
}

LogicalResult TInsertOp::verify() {
  TileBufType from = asTile(getSrc()), to = asTile(getDst());
  if (!from || !to)
    return success();
  bool direct = targetOf(*this).directTiles, free = targetOf(*this).freeTransfers;
  bool legal = from.getLoc() == AddressSpace::acc && to.getLoc() == AddressSpace::mat;
  legal |= from.getLoc() == AddressSpace::vec &&
           (to.getLoc() == AddressSpace::vec || (direct && to.getLoc() == AddressSpace::mat));
  if (!legal)
    return emitOpError("cannot insert from ")
           << stringifyAddressSpace(from.getLoc()) << " into " << stringifyAddressSpace(to.getLoc());
  Type a = from.getElementType(), b = to.getElementType();
  if (from.getLoc() == AddressSpace::acc && !(a.isF32() && (b.isF16() || b.isBF16() || (free && b.isF32()))) &&
      !(free && a.isInteger(32) && b.isInteger(32)))
    return emitOpError("cannot insert ") << a << " into " << b
                                         << (free ? "; expects f32 into f16, bf16 or f32, or i32 into i32"
                                                  : "; expects f32 into f16 or bf16");
  return verifyVecToVec(*this, from, to);
}

/// L1 is filled by MTE2.
static Pipe fillPipe(Value dst) {
  TileBufType to = asTile(dst);
  return to && to.getLoc() == AddressSpace::mat ? Pipe::PIPE_MTE2 : Pipe::PIPE_V;
}
Pipe TFillPadOp::getPipe() { return fillPipe(getDst()); }
Pipe TFillPadInplaceOp::getPipe() { return fillPipe(getDst()); }
Pipe TFillPadExpandOp::getPipe() { return fillPipe(getDst()); }
Pipe TPackOp::getPipe() { return Pipe::PIPE_V; }

static LogicalResult verifyFillPad(Operation *op, Value src, Value dst, bool expand) {
  TileBufType from = asTile(src), to = asTile(dst);
  if (!from || !to)
    return success();
  if (to.getPad() == PadValue::Null)
    return op->emitOpError("expects a destination with a pad value, got ") << to;
  if (getElementBits(from.getElementType()) != getElementBits(to.getElementType()))
    return op->emitOpError("expects elements of one size, got ")
           << from.getElementType() << " and " << to.getElementType();
  if (expand ? to.getRows() < from.getRows() || to.getCols() < from.getCols() : !sameShape(from, to))
    return op->emitOpError("expects ") << (expand ? "a destination no smaller than the source, got "
                                                  : "tiles of one shape, got ")
                                       << boxText(from) << " and " << boxText(to);
  return success();
}
LogicalResult TFillPadOp::verify() { return verifyFillPad(*this, getSrc(), getDst(), false); }
LogicalResult TFillPadInplaceOp::verify() { return verifyFillPad(*this, getSrc(), getDst(), false); }
LogicalResult TFillPadExpandOp::verify() { return verifyFillPad(*this, getSrc(), getDst(), true); }

LogicalResult TTransOp::verify() {
  TileBufType from = asTile(getSrc());
  if (!from)
    return success();
  if (!targetOf(*this).columnMajorOperands && !from.isRowMajor())
    return emitOpError("expects a row-major source, got ") << from;
  return success();
}

LogicalResult TImg2ColOp::verify() {
  auto check = [&](ArrayAttr values, StringRef name, size_t count, int64_t least) -> LogicalResult {
    if (values.size() != count)
      return emitOpError("expects ") << count << " values in " << name << ", got " << values.size();
    for (Attribute value : values)
      if (cast<IntegerAttr>(value).getInt() < least)
        return emitOpError("expects values >= ")
               << least << " in " << name << ", got " << cast<IntegerAttr>(value).getInt();
    return success();
  };
  if (failed(check(getKernel(), "kernel", 2, 1)) || failed(check(getStrides(), "strides", 2, 1)) ||
      failed(check(getDilations(), "dilations", 2, 1)) || failed(check(getPads(), "pads", 4, 0)) ||
      failed(check(getImage(), "image", 2, 1)))
    return failure();
  TileBufType from = asTile(getSrc()), to = asTile(getDst());
  if (!from || !to)
    return success();
  if (from.getLoc() != AddressSpace::mat || to.getLoc() != AddressSpace::left)
    return emitOpError("expects a mat source and a left destination, got ")
           << stringifyAddressSpace(from.getLoc()) << " and " << stringifyAddressSpace(to.getLoc());
  if (getTileLayout(from) != TileLayout::NZ)
    return emitOpError("expects a source with blayout=col_major, slayout=row_major, got ") << from;
  int64_t c0 = getC0(from.getElementType()), channels = getChannels();
  if (channels < 1 || roundUp(channels, c0) > from.getCols())
    return emitOpError("expects 1 to ") << from.getCols() << " channels, got " << channels;
  int64_t height = cast<IntegerAttr>(getImage()[0]).getInt(), width = cast<IntegerAttr>(getImage()[1]).getInt();
  if (height * width > from.getRows())
    return emitOpError("expects an image of at most ")
           << from.getRows() << " pixels (the rows of the source), got " << height << "x" << width;
  return success();
}
