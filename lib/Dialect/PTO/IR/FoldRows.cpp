#include "pto_mlir/Dialect/PTO/IR/FoldRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace pto_mlir::pto {

bool canFoldRows(TileBufType tile, bool sum) {
  return tile.isRowMajor() && (tile.hasDynamicValidRows() ? sum && tile.getRows() > 2 : tile.getValidRows() > 2);
}

void foldRows(OpBuilder &b, Location loc, Value source, Value columns, Value result,
              llvm::function_ref<void(Value, Value, Value)> combine) {
  auto type = cast<TileBufType>(source.getType());
  auto index = [&](int64_t value) -> Value { return b.create<arith::ConstantIndexOp>(loc, value); };
  bool whole = type.getValidCols() == type.getCols();
  if (!whole && !columns)
    columns = index(type.getValidCols());
  auto part = [&](Value tile, int64_t row, int64_t height) -> Value {
    auto of = cast<TileBufType>(tile.getType());
    auto piece = of.withShape(height, of.getCols()).withValid(height, type.getValidCols());
    return b.create<SubViewOp>(loc, piece, tile, ValueRange{index(row), index(0)}, whole ? Value() : index(height),
                               whole ? Value() : columns, b.getI64ArrayAttr({height, of.getCols()}));
  };
  Value rest = source;
  int64_t count = type.getValidRows();
  if (type.hasDynamicValidRows()) {
    count = type.getRows();
    rest = b.create<AllocTileOp>(loc, type.withValid(count, type.getCols()).withPad(PadValue::zero), Value(), Value());
    b.create<TFillPadOp>(loc, source, rest);
  }
  while (count > 1) {
    auto half = int64_t(llvm::bit_ceil(uint64_t(count)) / 2);
    Value target = rest;
    if (rest == source && half > 1) {
      target = b.create<AllocTileOp>(loc, type.withShape(half, type.getCols()).withValid(half, type.getCols()), Value(),
                                     Value());
      if (int64_t alone = 2 * half - count)
        b.create<TMovOp>(loc, part(rest, half - alone, alone), part(target, half - alone, alone));
    }
    int64_t pairs = count - half;
    combine(part(rest, 0, pairs), part(rest, half, pairs), half == 1 ? result : part(target, 0, pairs));
    rest = target;
    count = half;
  }
}

} // namespace pto_mlir::pto
