//===- PTOTypes.cpp - text of views and tiles --------------------------------------===//

#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pto_mlir::pto;

#define GET_TYPEDEF_CLASSES
#include "pto_mlir/Dialect/PTO/IR/PTOTypes.cpp.inc"

void PTODialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "pto_mlir/Dialect/PTO/IR/PTOTypes.cpp.inc"
      >();
}

//===- views ----------------------------------------------------------------------===//

static constexpr int64_t kMaxRank = 5;

/// `<` (dim `x`)+ type `>`
template <typename ViewType> static Type parseView(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/true) || parser.parseType(element) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<ViewType>(loc, parser.getContext(), shape, element);
}

static void printDim(AsmPrinter &printer, int64_t dim) {
  if (ShapedType::isDynamic(dim))
    printer << '?';
  else
    printer << dim;
}

static void printView(AsmPrinter &printer, ArrayRef<int64_t> shape, Type element) {
  printer << '<';
  for (int64_t dim : shape) {
    printDim(printer, dim);
    printer << 'x';
  }
  printer << element << '>';
}

static LogicalResult verifyView(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape) {
  if (shape.empty() || static_cast<int64_t>(shape.size()) > kMaxRank)
    return emitError() << "expects a rank of 1 to " << kMaxRank << ", got " << shape.size();
  return success();
}

Type TensorViewType::parse(AsmParser &parser) { return parseView<TensorViewType>(parser); }
void TensorViewType::print(AsmPrinter &printer) const { printView(printer, getShape(), getElementType()); }
LogicalResult TensorViewType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type) {
  return verifyView(emitError, shape);
}

Type PartitionTensorViewType::parse(AsmParser &parser) { return parseView<PartitionTensorViewType>(parser); }
void PartitionTensorViewType::print(AsmPrinter &printer) const { printView(printer, getShape(), getElementType()); }
LogicalResult PartitionTensorViewType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape,
                                              Type) {
  return verifyView(emitError, shape);
}

Type TileType::parse(AsmParser &parser) { return parseView<TileType>(parser); }
void TileType::print(AsmPrinter &printer) const { printView(printer, getShape(), getElementType()); }

//===- tile_buf -------------------------------------------------------------------===//

namespace {
/// What both texts of a tile_buf fill in.
struct TileText {
  AddressSpace loc = AddressSpace::vec;
  int64_t rows = 0, cols = 0, validRows = 0, validCols = 0;
  Type element;
  BLayout bLayout = BLayout::row_major;
  SLayout sLayout = SLayout::none_box;
  int32_t fractal = 512;
  PadValue pad = PadValue::Null;
  CompactMode compact = CompactMode::Null;
};
} // namespace

/// A keyword or string that names a value of `Enum`.
template <typename Enum>
static ParseResult parseEnum(AsmParser &parser, std::optional<Enum> (*symbolize)(StringRef), StringRef what,
                             Enum &value) {
  SMLoc loc = parser.getCurrentLocation();
  std::string name;
  if (parser.parseKeywordOrString(&name))
    return failure();
  std::optional<Enum> found = symbolize(name);
  if (!found)
    return parser.emitError(loc) << "unknown " << what << " '" << name << "'";
  value = *found;
  return success();
}

static ParseResult parseLoc(AsmParser &parser, AddressSpace &value) {
  SMLoc loc = parser.getCurrentLocation();
  if (parseEnum<AddressSpace>(parser, symbolizeAddressSpace, "loc", value))
    return failure();
  if (value == AddressSpace::gm || value == AddressSpace::zero)
    return parser.emitError(loc) << "unknown loc '" << stringifyAddressSpace(value)
                                 << "': a tile lives in a local memory";
  return success();
}

/// An integer that names a value of `Enum` (pad and compact have no keywords).
template <typename Enum>
static ParseResult parseEnumNumber(AsmParser &parser, std::optional<Enum> (*symbolize)(uint32_t), StringRef what,
                                   Enum &value) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t number;
  if (parser.parseInteger(number))
    return failure();
  std::optional<Enum> found = number < 0 || number > 255 ? std::nullopt : symbolize(static_cast<uint32_t>(number));
  if (!found)
    return parser.emitError(loc) << "unknown " << what << " " << number;
  value = *found;
  return success();
}

static ParseResult parseFractal(AsmParser &parser, int32_t &value) { return parser.parseInteger(value); }

/// `count`: where to put the slots of a multi_tile_buf, which are a key of the same list; null for a tile_buf.
static ParseResult parseCompactTile(AsmParser &parser, TileText &tile, int64_t *count) {
  SmallVector<int64_t, 2> shape;
  SMLoc shapeLoc = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(tile.element))
    return failure();
  if (shape.size() != 2)
    return parser.emitError(shapeLoc) << "expects a rank of 2, got " << shape.size();
  tile.rows = tile.validRows = shape[0];
  tile.cols = tile.validCols = shape[1];
  llvm::SmallDenseSet<StringRef> seen;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    if (!seen.insert(key).second)
      return parser.emitError(loc) << "duplicate key '" << key << "'";
    if (key == "valid") {
      SmallVector<int64_t, 2> valid;
      SMLoc validLoc = parser.getCurrentLocation();
      if (parser.parseDimensionList(valid, /*allowDynamic=*/true, /*withTrailingX=*/false))
        return failure();
      if (valid.size() != 2)
        return parser.emitError(validLoc) << "expects valid=RxC, got " << valid.size() << " extents";
      tile.validRows = valid[0];
      tile.validCols = valid[1];
    } else if (key == "blayout") {
      if (parseEnum<BLayout>(parser, symbolizeBLayout, "blayout", tile.bLayout))
        return failure();
    } else if (key == "slayout") {
      if (parseEnum<SLayout>(parser, symbolizeSLayout, "slayout", tile.sLayout))
        return failure();
    } else if (key == "fractal") {
      if (parseFractal(parser, tile.fractal))
        return failure();
    } else if (key == "pad") {
      if (parseEnumNumber<PadValue>(parser, symbolizePadValue, "pad", tile.pad))
        return failure();
    } else if (key == "compact") {
      if (parseEnumNumber<CompactMode>(parser, symbolizeCompactMode, "compact", tile.compact))
        return failure();
    } else if (count && key == "count") {
      if (parser.parseInteger(*count))
        return failure();
    } else {
      return parser.emitError(loc) << "unknown key '" << key
                                   << "': expects valid, blayout, slayout, fractal, pad or compact"
                                   << (count ? ", and count" : "");
    }
  }
  return success();
}

/// INT, `?` or -1.
static ParseResult parseValidExtent(AsmParser &parser, int64_t &value) {
  if (succeeded(parser.parseOptionalQuestion())) {
    value = ShapedType::kDynamic;
    return success();
  }
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(value))
    return failure();
  if (value < -1)
    return parser.emitError(loc) << "expects a size, '?' or -1, got " << value;
  if (value == -1)
    value = ShapedType::kDynamic;
  return success();
}

/// The positional text, after `loc`: every key in its place, only `compact` may be absent.
static ParseResult parseLongTile(AsmParser &parser, TileText &tile) {
  auto key = [&](StringRef name) -> ParseResult {
    return failure(parser.parseComma() || parser.parseKeyword(name) || parser.parseEqual());
  };
  if (parser.parseEqual() || parseLoc(parser, tile.loc) || key("dtype") || parser.parseType(tile.element) ||
      key("rows") || parser.parseInteger(tile.rows) || key("cols") || parser.parseInteger(tile.cols) || key("v_row") ||
      parseValidExtent(parser, tile.validRows) || key("v_col") || parseValidExtent(parser, tile.validCols) ||
      key("blayout") || parseEnum<BLayout>(parser, symbolizeBLayout, "blayout", tile.bLayout) || key("slayout") ||
      parseEnum<SLayout>(parser, symbolizeSLayout, "slayout", tile.sLayout) || key("fractal") ||
      parseFractal(parser, tile.fractal) || key("pad") ||
      parseEnumNumber<PadValue>(parser, symbolizePadValue, "pad", tile.pad))
    return failure();
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("compact") || parser.parseEqual() ||
       parseEnumNumber<CompactMode>(parser, symbolizeCompactMode, "compact", tile.compact)))
    return failure();
  return success();
}

static TileBufType makeTile(AsmParser &parser, SMLoc loc, TileText &tile) {
  if (tile.loc == AddressSpace::left) {
    auto *dialect = parser.getContext()->getLoadedDialect<PTODialect>();
    const Target *arch = dialect ? dialect->getParseFor() : nullptr;
    tile.bLayout = getLeftBLayout(arch ? *arch : defaultTarget());
  }
  return parser.getChecked<TileBufType>(loc, parser.getContext(), tile.loc, tile.rows, tile.cols, tile.element,
                                        tile.validRows, tile.validCols, tile.bLayout, tile.sLayout, tile.fractal,
                                        tile.pad, tile.compact);
}

Type TileBufType::parse(AsmParser &parser) {
  TileText tile;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  if (succeeded(parser.parseOptionalKeyword("loc"))) {
    if (parseLongTile(parser, tile))
      return {};
  } else if (parseLoc(parser, tile.loc) || parser.parseComma() || parseCompactTile(parser, tile, nullptr)) {
    return {};
  }
  if (parser.parseGreater())
    return {};
  return makeTile(parser, loc, tile);
}

/// The compact text without its brackets.
static void printTile(AsmPrinter &printer, TileBufType type) {
  printer << stringifyAddressSpace(type.getLoc()) << ", " << type.getRows() << 'x' << type.getCols() << 'x'
          << type.getElementType();
  if (type.getValidRows() != type.getRows() || type.getValidCols() != type.getCols()) {
    printer << ", valid=";
    printDim(printer, type.getValidRows());
    printer << 'x';
    printDim(printer, type.getValidCols());
  }
  if (type.getBLayout() != BLayout::row_major)
    printer << ", blayout=" << stringifyBLayout(type.getBLayout());
  if (type.getSLayout() != SLayout::none_box)
    printer << ", slayout=" << stringifySLayout(type.getSLayout());
  if (type.getFractal() != 512)
    printer << ", fractal=" << type.getFractal();
  if (type.getPad() != PadValue::Null)
    printer << ", pad=" << static_cast<uint32_t>(type.getPad());
  if (type.getCompact() != CompactMode::Null)
    printer << ", compact=" << static_cast<uint32_t>(type.getCompact());
}

void TileBufType::print(AsmPrinter &printer) const {
  printer << '<';
  printTile(printer, *this);
  printer << '>';
}

LogicalResult TileBufType::verify(function_ref<InFlightDiagnostic()> emitError, AddressSpace, int64_t rows,
                                  int64_t cols, Type element, int64_t validRows, int64_t validCols, BLayout, SLayout,
                                  int32_t, PadValue, CompactMode) {
  // The assembler reads a tile of no rows; nothing may use one.
  if (rows < 0 || cols < 0)
    return emitError() << "expects no negative rows and columns, got " << rows << "x" << cols;
  if (!element.isIntOrIndexOrFloat())
    return emitError() << "expects an integer or float element type, got " << element;
  return success();
}

TileBufType TileBufType::withValid(int64_t rows, int64_t cols) const {
  return get(getContext(), getLoc(), getRows(), getCols(), getElementType(), rows, cols, getBLayout(), getSLayout(),
             getFractal(), getPad(), getCompact());
}
TileBufType TileBufType::withPad(PadValue pad) const {
  return get(getContext(), getLoc(), getRows(), getCols(), getElementType(), getValidRows(), getValidCols(),
             getBLayout(), getSLayout(), getFractal(), pad, getCompact());
}
TileBufType TileBufType::withElementType(Type type) const {
  return get(getContext(), getLoc(), getRows(), getCols(), type, getValidRows(), getValidCols(), getBLayout(),
             getSLayout(), getFractal(), getPad(), getCompact());
}
TileBufType TileBufType::withShape(int64_t rows, int64_t cols) const {
  return get(getContext(), getLoc(), rows, cols, getElementType(), rows, cols, getBLayout(), getSLayout(), getFractal(),
             getPad(), getCompact());
}

//===- multi_tile_buf -------------------------------------------------------------===//

Type MultiTileBufType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  TileBufType slot;
  int64_t count = 0;
  if (OptionalParseResult full = parser.parseOptionalType(slot); full.has_value()) {
    if (failed(*full) || parser.parseComma() || parser.parseKeyword("count") || parser.parseEqual() ||
        parser.parseInteger(count))
      return {};
  } else {
    TileText tile;
    if (parseLoc(parser, tile.loc) || parser.parseComma() || parseCompactTile(parser, tile, &count))
      return {};
    slot = makeTile(parser, loc, tile);
  }
  if (!slot || parser.parseGreater())
    return {};
  return parser.getChecked<MultiTileBufType>(loc, parser.getContext(), slot, count);
}

void MultiTileBufType::print(AsmPrinter &printer) const {
  printer << '<';
  printTile(printer, getSlotType());
  printer << ", count=" << getCount() << '>';
}

LogicalResult MultiTileBufType::verify(function_ref<InFlightDiagnostic()> emitError, TileBufType, int64_t count) {
  // The assembler's limits.
  if (count < 2 || count > 16)
    return emitError() << "expects a count of 2 to 16 slots, got " << count;
  return success();
}
