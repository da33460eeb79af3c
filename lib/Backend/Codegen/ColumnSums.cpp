//===- ColumnSums.cpp - Sums of columns, row by row or by halves ----------===//

#include "Models.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

/// Rows from the `first` one on, every second one of them where `step` is 2: a tile of as many times its columns.
LogicalResult rowsOf(Operation *op, CodegenContext &cg, const isa::Tile &tile, int64_t first, int64_t step,
                     int64_t count, isa::Tile &out) {
  out = tile;
  out.rows = uint16_t(count);
  out.cols = uint16_t(tile.cols * step);
  out.validRows = isa::Value(count);
  int64_t bytes = first * tile.cols * isa::elementBits(tile.type) / 8;
  return cg.binary<isa::Add>(op, tile.address, isa::Value(bytes), out.address);
}

/// out[i] = in[2 i] + in[2 i + 1] for `count` rows; the last one of an odd number is added to the first sum.
LogicalResult halve(Operation *op, CodegenContext &cg, const isa::Tile &in, int64_t count, const isa::Tile &out) {
  isa::TAdd sums, last;
  if (failed(rowsOf(op, cg, in, 0, 2, count / 2, sums.src0)) ||
      failed(rowsOf(op, cg, in, 1, 2, count / 2, sums.src1)) ||
      failed(rowsOf(op, cg, out, 0, 1, count / 2, sums.dst)) || failed(cg.emit(op, sums)))
    return failure();
  if (count % 2 == 0)
    return success();
  return failure(failed(rowsOf(op, cg, out, 0, 1, 1, last.dst)) || failed(rowsOf(op, cg, out, 0, 1, 1, last.src0)) ||
                 failed(rowsOf(op, cg, in, count - 1, 1, 1, last.src1)) || failed(cg.emit(op, last)));
}

/// Whether the sums of halves are known to fit.
bool fits(const isa::Tile &src, const isa::Tile &tmp) {
  constexpr int64_t mostColumns = UINT16_MAX / 2;
  return !src.validRows.isRegister && src.validRows.value > 1 && tmp.rows >= src.validRows.value / 2 &&
         tmp.layout == isa::Layout::ND && tmp.cols >= src.cols && tmp.cols <= mostColumns;
}

struct TColSumModel : CodegenOpInterface::ExternalModel<TColSumModel, pto::TColSumOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto sum = cast<pto::TColSumOp>(op);
    isa::Tile dst, src, tmp;
    if (failed(cg.tile(op, sum.getDst(), dst)) || failed(cg.tile(op, sum.getSrc(), src)) ||
        (sum.getTmp() && failed(cg.tile(op, sum.getTmp(), tmp))))
      return failure();
    if (!sum.getIsBinary().value_or(false) || !fits(src, tmp))
      return cg.emit(op, isa::TColsum{dst, src});
    tmp.validCols = src.validCols;
    isa::Tile from = src;
    // In place from the second time on: a sum is written where what it is of has been read.
    for (int64_t count = src.validRows.value; count > 1; count /= 2) {
      if (failed(halve(op, cg, from, count, count > 3 ? tmp : dst)))
        return failure();
      from = tmp;
    }
    return success();
  }
};

} // namespace

void attachColumnSumModel(MLIRContext *c) { pto::TColSumOp::attachInterface<TColSumModel>(*c); }

} // namespace pto_mlir::backend
