//===- Tiles.cpp - tile types by role, sizes and layouts ----------------------------===//

#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

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
    return type.getFractal() == 1024 ? TileLayout::NZ16 : TileLayout::NZ;
  case SLayout::col_major:
    return colMajor ? TileLayout::NN : TileLayout::ZN;
  }
  return TileLayout::ND;
}

unsigned getElementBits(Type elementType) { return elementType.isIndex() ? 64 : elementType.getIntOrFloatBitWidth(); }

int64_t getTileBytes(TileBufType type) { return (type.getRows() * type.getCols() * getElementBits(type.getElementType()) + 7) / 8; }

int64_t getC0(Type elementType) { return 256 / getElementBits(elementType); }

static TileBufType make(MLIRContext *context, AddressSpace loc, int64_t rows, int64_t cols, Type element, int64_t validRows,
                        int64_t validCols, BLayout bLayout, SLayout sLayout, int32_t fractal) {
  return TileBufType::get(context, loc, rows, cols, element, validRows == kWhole ? rows : validRows,
                          validCols == kWhole ? cols : validCols, bLayout, sLayout, fractal, PadValue::Null, CompactMode::Null);
}

TileBufType makeVecTile(MLIRContext *context, int64_t rows, int64_t cols, Type element, int64_t validRows, int64_t validCols) {
  return make(context, AddressSpace::vec, rows, cols, element, validRows, validCols, BLayout::row_major, SLayout::none_box, 512);
}
TileBufType makeVecColumnTile(MLIRContext *context, int64_t rows, Type element, int64_t validRows) {
  return make(context, AddressSpace::vec, rows, 1, element, validRows, kWhole, BLayout::col_major, SLayout::none_box, 512);
}
TileBufType makeMatTile(MLIRContext *context, int64_t rows, int64_t cols, Type element, int64_t validRows, int64_t validCols) {
  return make(context, AddressSpace::mat, rows, cols, element, validRows, validCols, BLayout::col_major, SLayout::row_major, 512);
}
TileBufType makeMatZNTile(MLIRContext *context, int64_t rows, int64_t cols, Type element, int64_t validRows, int64_t validCols) {
  return make(context, AddressSpace::mat, rows, cols, element, validRows, validCols, BLayout::row_major, SLayout::col_major, 512);
}
TileBufType makeMatNDTile(MLIRContext *context, int64_t rows, int64_t cols, Type element, int64_t validRows, int64_t validCols) {
  return make(context, AddressSpace::mat, rows, cols, element, validRows, validCols, BLayout::row_major, SLayout::none_box, 512);
}
TileBufType makeLeftTile(MLIRContext *context, int64_t rows, int64_t cols, Type element, int64_t validRows, int64_t validCols, bool a5) {
  return make(context, AddressSpace::left, rows, cols, element, validRows, validCols, a5 ? BLayout::col_major : BLayout::row_major,
              SLayout::row_major, 512);
}
TileBufType makeRightTile(MLIRContext *context, int64_t rows, int64_t cols, Type element, int64_t validRows, int64_t validCols) {
  return make(context, AddressSpace::right, rows, cols, element, validRows, validCols, BLayout::row_major, SLayout::col_major, 512);
}
TileBufType makeAccTile(MLIRContext *context, int64_t rows, int64_t cols, Type element, int64_t validRows, int64_t validCols) {
  return make(context, AddressSpace::acc, rows, cols, element, validRows, validCols, BLayout::col_major, SLayout::row_major, 1024);
}
TileBufType makeBiasTile(MLIRContext *context, int64_t cols, Type element, int64_t validCols) {
  return make(context, AddressSpace::bias, 1, cols, element, kWhole, validCols, BLayout::row_major, SLayout::none_box, 512);
}

template <typename Effect>
static SmallVector<Value> operandsWith(Operation *op) {
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

bool textTargetsA5(StringRef text) {
  constexpr StringLiteral key = "pto.target_arch";
  for (size_t at = text.find(key); at != StringRef::npos; at = text.find(key, at + 1)) {
    StringRef rest = text.drop_front(at + key.size()).ltrim();
    if (rest.consume_front("=") && (rest = rest.ltrim()).consume_front("\""))
      return rest.take_until([](char c) { return c == '"'; }).equals_insensitive("a5");
  }
  return false;
}

} // namespace pto_mlir::pto
