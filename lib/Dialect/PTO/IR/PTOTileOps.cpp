//===- PTOTileOps.cpp - allocation and aliases of tiles -------------------------------===//

#include "VerifyHelpers.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace pto_mlir::pto;

Value MultiTileGetOp::getAliasSource() { return getSource(); }
Value TAssignOp::getAliasSource() { return getSource(); }
Value SubsetOp::getAliasSource() { return getSource(); }
Value SubViewOp::getAliasSource() { return getSource(); }
Value TReshapeOp::getAliasSource() { return getSrc(); }
Value BitcastOp::getAliasSource() { return getSrc(); }

/// Operands for the valid extents of `type` are there exactly where it leaves them open.
static LogicalResult verifyExtents(Operation *op, TileBufType type, Value validRow, Value validCol) {
  auto check = [&](StringRef name, bool present, bool dynamic) -> LogicalResult {
    if (present == dynamic)
      return success();
    if (dynamic)
      return op->emitOpError("expects ") << name << ", since the valid shape of " << type << " has a '?' there";
    return op->emitOpError("expects no ") << name << ", since the valid shape of " << type << " is static there";
  };
  if (failed(check("valid_row", static_cast<bool>(validRow), type.hasDynamicValidRows())))
    return failure();
  return check("valid_col", static_cast<bool>(validCol), type.hasDynamicValidCols());
}

LogicalResult AllocTileOp::verify() { return verifyExtents(*this, getTileType(), getValidRow(), getValidCol()); }

LogicalResult AllocMultiTileOp::verify() {
  // Scales and descriptors of the fixpipe go to memories that their users tell apart (ScaleUse).
  if (getTileType().getLoc() == AddressSpace::scaling)
    return emitOpError("expects slots in another memory than scaling; an alloc_tile for each does there");
  return verifyExtents(*this, getTileType(), getValidRow(), getValidCol());
}

LogicalResult MultiTileGetOp::verify() {
  MultiTileBufType type = getSource().getType();
  if (type.getSlotType() != getResult().getType())
    return emitOpError("expects a result of the slots' type ")
           << type.getSlotType() << ", got " << getResult().getType();
  std::optional<int64_t> slot = getConstantIntValue(getSlot());
  if (slot && (*slot < 0 || *slot >= type.getCount()))
    return emitOpError("expects a slot from 0 to ") << type.getCount() - 1 << ", got " << *slot;
  return success();
}

/// min(size, valid - offset), `?` when offset or valid is not known.
/// Whether an attribute is one of the sizes in an I64ArrayAttr; asked where nothing has verified the array yet.
static bool isSize(Attribute attr) {
  auto integer = dyn_cast_or_null<IntegerAttr>(attr);
  return integer && integer.getType().isInteger(64);
}

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
  if (!source || !sizes || sizes.size() != 2 || !llvm::all_of(sizes, isSize) || op.getOffsets().size() != 2)
    return emitOptionalError(location, "'pto.subset' op expects a tile, two offsets and two sizes");
  int64_t rows = cast<IntegerAttr>(sizes[0]).getInt(), cols = cast<IntegerAttr>(sizes[1]).getInt();
  if (rows <= 0 || cols <= 0)
    return emitOptionalError(location, "'pto.subset' op expects positive sizes, got ", rows, "x", cols);
  int64_t validRows = subsetValid(rows, source.getValidRows(), getConstantIntValue(op.getOffsets()[0]));
  int64_t validCols = subsetValid(cols, source.getValidCols(), getConstantIntValue(op.getOffsets()[1]));
  inferred.push_back(source.withShape(rows, cols).withValid(validRows, validCols));
  return success();
}

/// A part of a boxed tile is made of whole boxes that follow one another.
static LogicalResult verifyBoxedPart(Operation *op, TileBufType source, TileBufType result, OperandRange offsets) {
  if (!source.isBoxed())
    return success();
  auto [boxRows, boxCols] = getInnerBox(source);
  std::optional<int64_t> row = getConstantIntValue(offsets[0]), col = getConstantIntValue(offsets[1]);
  // Whatever box a row of NZ is in, it lies one box's width behind the row before: a load may fill one alone.
  if (isa<SubViewOp>(op) && getTileLayout(source) == TileLayout::NZ && source.getLoc() == AddressSpace::mat &&
      result.getRows() == 1 && result.getCols() == source.getCols() && col == 0)
    return success();
  if (result.getRows() % boxRows || result.getCols() % boxCols)
    return op->emitOpError("expects sizes that are multiples of the inner box ")
           << shapeText(boxRows, boxCols) << ", got " << boxText(result);
  if ((row && *row % boxRows) || (col && *col % boxCols))
    return op->emitOpError("expects offsets that are multiples of the inner box ") << shapeText(boxRows, boxCols);
  if (source.isRowMajor() ? result.getCols() != source.getCols() || col != 0
                          : result.getRows() != source.getRows() || row != 0)
    return op->emitOpError("expects all ")
           << (source.isRowMajor() ? "columns of a row-major" : "rows of a column-major") << " boxed tile";
  return success();
}

LogicalResult SubsetOp::verify() {
  return verifyBoxedPart(*this, cast<TileBufType>(getSource().getType()), cast<TileBufType>(getResult().getType()),
                         getOffsets());
}

LogicalResult SubViewOp::verify() {
  auto source = cast<TileBufType>(getSource().getType()), result = cast<TileBufType>(getResult().getType());
  if (getOffsets().size() != 2 || getSizes().size() != 2)
    return emitOpError("expects two offsets and two sizes, got ")
           << getOffsets().size() << " and " << getSizes().size();
  int64_t rows = cast<IntegerAttr>(getSizes()[0]).getInt(), cols = cast<IntegerAttr>(getSizes()[1]).getInt();
  if (rows <= 0 || cols <= 0 || rows > source.getRows() || cols > source.getCols())
    return emitOpError("expects positive sizes within ") << boxText(source) << ", got " << rows << "x" << cols;
  if (source.withShape(rows, cols).withValid(result.getValidRows(), result.getValidCols()) != result)
    return emitOpError("expects a result of ")
           << source.withShape(rows, cols) << " or with another valid part, got " << result;
  if (static_cast<bool>(getValidRow()) != static_cast<bool>(getValidCol()))
    return emitOpError("expects both valid extents or none");
  auto check = [&](Value extent, int64_t typed, int64_t size) -> LogicalResult {
    std::optional<int64_t> known = extent ? getConstantIntValue(extent) : size;
    if (known && (*known <= 0 || *known > size))
      return emitOpError("expects valid extents from 1 to the sizes, got ") << *known << " of " << size;
    if (!ShapedType::isDynamic(typed) && (!known || *known != typed))
      return emitOpError("expects a result whose valid part is ")
             << (known ? std::to_string(*known) : std::string("?")) << " there, got " << typed;
    return success();
  };
  std::optional<int64_t> row = getConstantIntValue(getOffsets()[0]), col = getConstantIntValue(getOffsets()[1]);
  if ((row && (*row < 0 || *row + rows > source.getRows())) || (col && (*col < 0 || *col + cols > source.getCols())))
    return emitOpError("expects a part within ")
           << boxText(source) << ", got " << rows << "x" << cols << " at a place outside";
  if (failed(check(getValidRow(), result.getValidRows(), rows)) ||
      failed(check(getValidCol(), result.getValidCols(), cols)))
    return failure();
  return verifyBoxedPart(*this, source, result, getOffsets());
}

ParseResult SubViewOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand source;
  SmallVector<OpAsmParser::UnresolvedOperand, 2> offsets, valid;
  ArrayAttr sizes;
  Type sourceType, resultType;
  Type index = parser.getBuilder().getIndexType();
  SMLoc sizesAt, validAt;
  if (parser.parseOperand(source) || parser.parseOperandList(offsets, OpAsmParser::Delimiter::Square) ||
      parser.parseKeyword("sizes") || parser.getCurrentLocation(&sizesAt) || parser.parseAttribute(sizes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("valid")) &&
      (parser.getCurrentLocation(&validAt) || parser.parseOperandList(valid, OpAsmParser::Delimiter::Square)))
    return failure();
  if (!valid.empty() && valid.size() != 2)
    return parser.emitError(validAt, "expects two valid extents, got ") << valid.size();
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(sourceType))
    return failure();
  if (sizes.size() != 2 || !llvm::all_of(sizes, isSize))
    return parser.emitError(sizesAt, "expects two sizes");
  if (parser.resolveOperand(source, sourceType, state.operands) ||
      parser.resolveOperands(offsets, index, state.operands) || parser.resolveOperands(valid, index, state.operands))
    return failure();
  if (succeeded(parser.parseOptionalArrow())) {
    if (parser.parseType(resultType))
      return failure();
  } else {
    auto tile = dyn_cast<TileBufType>(sourceType);
    int64_t rows = cast<IntegerAttr>(sizes[0]).getInt(), cols = cast<IntegerAttr>(sizes[1]).getInt();
    if (!tile || rows <= 0 || cols <= 0)
      return parser.emitError(sizesAt, "expects positive sizes of a part of a tile");
    auto extent = [&](unsigned i, int64_t size) {
      if (valid.empty())
        return size;
      return getConstantIntValue(state.operands[1 + offsets.size() + i]).value_or(ShapedType::kDynamic);
    };
    resultType = tile.withShape(rows, cols).withValid(extent(0, rows), extent(1, cols));
  }
  state.addAttribute("sizes", sizes);
  int32_t given = valid.empty() ? 0 : 1;
  state.addAttribute("operandSegmentSizes",
                     parser.getBuilder().getDenseI32ArrayAttr({1, static_cast<int32_t>(offsets.size()), given, given}));
  state.addTypes(resultType);
  return success();
}

void SubViewOp::print(OpAsmPrinter &printer) {
  printer << " " << getSource() << "[" << getOffsets() << "] sizes " << getSizesAttr();
  if (getValidRow() && getValidCol())
    printer << " valid [" << getValidRow() << ", " << getValidCol() << "]";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"sizes", "operandSegmentSizes"});
  printer << " : " << getSource().getType() << " -> " << getResult().getType();
}

std::optional<std::pair<Value, Value>> pto_mlir::pto::getPartBegin(Operation *op) {
  auto begin = [](OperandRange offsets) { return std::make_pair(Value(offsets[0]), Value(offsets[1])); };
  if (auto subset = dyn_cast<SubsetOp>(op))
    return begin(subset.getOffsets());
  if (auto view = dyn_cast<SubViewOp>(op))
    return begin(view.getOffsets());
  return std::nullopt;
}

LogicalResult TReshapeOp::verify() {
  auto from = cast<TileBufType>(getSrc().getType()), to = cast<TileBufType>(getResult().getType());
  if (from.getLoc() != to.getLoc())
    return emitOpError("expects a result in ")
           << stringifyAddressSpace(from.getLoc()) << ", got " << stringifyAddressSpace(to.getLoc());
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
  if (Operation *from = getSource().getDefiningOp(); from && getPartBegin(from))
    return emitOpError("expects a tile of its own, not a subset");
  std::optional<int64_t> row = getConstantIntValue(getValidRow()), col = getConstantIntValue(getValidCol());
  if ((row && (*row < 0 || *row > type.getRows())) || (col && (*col < 0 || *col > type.getCols())))
    return emitOpError("expects a valid shape within ") << boxText(type);
  return success();
}
