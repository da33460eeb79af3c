//===- Tiles.cpp - tile types by role, sizes and layouts ----------------------------===//

#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::pto {

TileLayout getTileLayout(TileBufType type) {
  bool colMajor = type.getBLayout() == BLayout::col_major;
  switch (type.getSLayout()) {
  case SLayout::none_box:
    return colMajor ? TileLayout::DN : TileLayout::ND;
  case SLayout::row_major:
    if (!colMajor)
      return TileLayout::ZZ;
    // L0C has no other boxes, whatever the text says.
    return type.getFractal() == 1024 || type.getLoc() == AddressSpace::acc ? TileLayout::NZ16 : TileLayout::NZ;
  case SLayout::col_major:
    return colMajor ? TileLayout::NN : TileLayout::ZN;
  }
  return TileLayout::ND;
}

unsigned getElementBits(Type elementType) { return elementType.isIndex() ? 64 : elementType.getIntOrFloatBitWidth(); }

int64_t getTileBytes(TileBufType type) {
  return (type.getRows() * type.getCols() * getElementBits(type.getElementType()) + 7) / 8;
}

std::pair<int64_t, int64_t> getPaddedBox(TileBufType type) {
  int64_t rows = type.getRows(), cols = type.getCols(), block = getC0(type.getElementType());
  switch (type.getLoc()) {
  case AddressSpace::vec:
  case AddressSpace::mat:
  case AddressSpace::left:
  case AddressSpace::right:
  case AddressSpace::acc:
    break;
  default:
    return {rows, cols};
  }
  switch (getTileLayout(type)) {
  case TileLayout::ND:
    return {rows, roundUp(cols, block)};
  case TileLayout::DN:
    return {roundUp(rows, block), cols};
  case TileLayout::NZ:
  case TileLayout::ZZ:
    return {roundUp(rows, 16), roundUp(cols, block)};
  case TileLayout::ZN:
  case TileLayout::NN:
    return {roundUp(rows, block), roundUp(cols, 16)};
  case TileLayout::NZ16:
    return {roundUp(rows, 16), roundUp(cols, 16)};
  }
  return {rows, cols};
}

std::pair<int64_t, int64_t> getInnerBox(TileBufType type) {
  if (!type.isBoxed())
    return {1, 1};
  if (type.getFractal() == 1024)
    return {16, 16};
  if (type.getFractal() == 32)
    return {16, 2};
  int64_t c0 = getC0(type.getElementType());
  return type.getSLayout() == SLayout::row_major ? std::pair<int64_t, int64_t>{16, c0}
                                                 : std::pair<int64_t, int64_t>{c0, 16};
}

int64_t getPaddedTileBytes(TileBufType type) {
  auto [rows, cols] = getPaddedBox(type);
  return (rows * cols * getElementBits(type.getElementType()) + 7) / 8;
}

int64_t getC0(Type elementType) { return 256 / getElementBits(elementType); }

static TileBufType make(MLIRContext *context, AddressSpace loc, int64_t rows, int64_t cols, Type element,
                        int64_t validRows, int64_t validCols, BLayout bLayout, SLayout sLayout, int32_t fractal) {
  return TileBufType::get(context, loc, rows, cols, element, validRows == kWhole ? rows : validRows,
                          validCols == kWhole ? cols : validCols, bLayout, sLayout, fractal, PadValue::Null,
                          CompactMode::Null);
}

TileBufType makeVecTile(MLIRContext *context, int64_t rows, int64_t cols, Type element, int64_t validRows,
                        int64_t validCols) {
  return make(context, AddressSpace::vec, rows, cols, element, validRows, validCols, BLayout::row_major,
              SLayout::none_box, 512);
}
TileBufType makeVecColumnTile(MLIRContext *context, int64_t rows, Type element, int64_t validRows) {
  return make(context, AddressSpace::vec, rows, 1, element, validRows, kWhole, BLayout::col_major, SLayout::none_box,
              512);
}
TileBufType makeMatTile(MLIRContext *context, int64_t rows, int64_t cols, Type element, int64_t validRows,
                        int64_t validCols) {
  return make(context, AddressSpace::mat, rows, cols, element, validRows, validCols, BLayout::col_major,
              SLayout::row_major, 512);
}
TileBufType makeMatZNTile(MLIRContext *context, int64_t rows, int64_t cols, Type element, int64_t validRows,
                          int64_t validCols) {
  return make(context, AddressSpace::mat, rows, cols, element, validRows, validCols, BLayout::row_major,
              SLayout::col_major, 512);
}
TileBufType makeMatNDTile(MLIRContext *context, int64_t rows, int64_t cols, Type element, int64_t validRows,
                          int64_t validCols) {
  return make(context, AddressSpace::mat, rows, cols, element, validRows, validCols, BLayout::row_major,
              SLayout::none_box, 512);
}
BLayout getLeftBLayout(const Target &arch) { return arch.leftColumnMajor ? BLayout::col_major : BLayout::row_major; }
TileBufType makeLeftTile(MLIRContext *context, const Target &arch, int64_t rows, int64_t cols, Type element,
                         int64_t validRows, int64_t validCols) {
  return make(context, AddressSpace::left, rows, cols, element, validRows, validCols, getLeftBLayout(arch),
              SLayout::row_major, 512);
}
TileBufType makeRightTile(MLIRContext *context, int64_t rows, int64_t cols, Type element, int64_t validRows,
                          int64_t validCols) {
  return make(context, AddressSpace::right, rows, cols, element, validRows, validCols, BLayout::row_major,
              SLayout::col_major, 512);
}
TileBufType makeAccTile(MLIRContext *context, int64_t rows, int64_t cols, Type element, int64_t validRows,
                        int64_t validCols) {
  return make(context, AddressSpace::acc, rows, cols, element, validRows, validCols, BLayout::col_major,
              SLayout::row_major, 1024);
}
TileBufType makeScalingTile(MLIRContext *context, int64_t cols, Type element, int64_t validCols) {
  return make(context, AddressSpace::scaling, 1, cols, element, kWhole, validCols, BLayout::row_major,
              SLayout::none_box, 512);
}
TileBufType makeBiasTile(MLIRContext *context, int64_t cols, Type element, int64_t validCols) {
  return make(context, AddressSpace::bias, 1, cols, element, kWhole, validCols, BLayout::row_major, SLayout::none_box,
              512);
}

template <typename Effect> static SmallVector<Value> operandsWith(Operation *op) {
  SmallVector<Value> values;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return values;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    Value value = effect.getValue();
    // tdivs declares a read on both sources, one of which is a scalar.
    if (isa<Effect>(effect.getEffect()) && value && !isa<IntegerType, FloatType>(value.getType()))
      values.push_back(value);
  }
  return values;
}

SmallVector<Value> getTileReads(Operation *op) { return operandsWith<MemoryEffects::Read>(op); }
SmallVector<Value> getTileWrites(Operation *op) { return operandsWith<MemoryEffects::Write>(op); }

Value getAliasRoot(Value tile) {
  while (auto alias = tile.getDefiningOp<TileAliasOpInterface>())
    tile = alias.getAliasSource();
  return tile;
}

ScaleUse getScaleUse(Value tile) {
  SmallVector<Value> names = {getAliasRoot(tile)};
  if (Operation *alloc = names[0].getDefiningOp())
    if (auto use = alloc->getAttrOfType<StringAttr>(kScalesAttr))
      return use == "left" ? ScaleUse::left : ScaleUse::right;
  while (!names.empty()) {
    Value name = names.pop_back_val();
    for (Operation *user : name.getUsers()) {
      if (auto product = dyn_cast<ScaledOpInterface>(user))
        return product.getLeftScales() == name ? ScaleUse::left : ScaleUse::right;
      if (isa<TileAliasOpInterface>(user))
        names.push_back(user->getResult(0));
    }
  }
  return ScaleUse::none;
}

std::pair<int64_t, int64_t> getScaleBox(TileBufType type, ScaleUse use) {
  bool left = use == ScaleUse::left;
  int64_t groups = roundUp(((left ? type.getCols() : type.getRows()) + 31) / 32, 2),
          others = roundUp(left ? type.getRows() : type.getCols(), 16);
  return left ? std::pair(others, groups) : std::pair(groups, others);
}

const Target &targetOfText(StringRef text) {
  constexpr StringLiteral key = kTargetArchAttr;
  for (size_t at = text.find(key); at != StringRef::npos; at = text.find(key, at + 1)) {
    StringRef rest = text.drop_front(at + key.size()).ltrim();
    if (rest.consume_front("=") && (rest = rest.ltrim()).consume_front("\""))
      return targetNamed(rest.take_until([](char c) { return c == '"'; }));
  }
  return defaultTarget();
}

} // namespace pto_mlir::pto
