// Argmax and argmin of rows and columns; ties take the first.
#ifndef PTO_MLIR_CMODEL_ARGREDUCE_H
#define PTO_MLIR_CMODEL_ARGREDUCE_H

#include "Tiles/Map.h"

#include <algorithm>

namespace pto_mlir::cmodel {

/// The first i < n whose x[i] is best by `better`; 0 if the best value is NaN. Finds the value first, in vector lanes,
/// then its index.
template <class T, class F> uint32_t bestOf(const T *x, uint32_t n, F better) {
  constexpr uint32_t lanes = 16;
  float first = load(x[0]), best[lanes];
  std::fill(best, best + lanes, first);
  uint32_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    float block[lanes];
    if constexpr (std::is_same_v<T, Half>)
      widen(block, x + i, lanes);
    else
      std::copy(x + i, x + i + lanes, block);
    for (uint32_t j = 0; j < lanes; ++j)
      best[j] = better(block[j], best[j]) ? block[j] : best[j];
  }
  for (; i < n; ++i)
    best[0] = better(load(x[i]), best[0]) ? load(x[i]) : best[0];
  for (uint32_t j = 1; j < lanes; ++j)
    best[0] = better(best[j], best[0]) ? best[j] : best[0];
  for (i = 0; i < n; ++i)
    if (load(x[i]) == best[0])
      return i;
  return 0;
}

/// dst(r, 0) = the column of the first best element of src's row r.
template <class Insn, class F> void argReduceRows(const Insn &insn, Core &core, F better) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  if (src.validRows < dst.validRows || src.validCols == 0 || dst.validCols != 1)
    return core.fault(FaultKind::IllegalShape, "dst is no column for the rows of src");
  bool legal = Floats::visit(src.type, [&]<class T>() {
    for (uint32_t r = 0; r < dst.validRows; ++r)
      dst.as<uint32_t>()[r * rowStep(dst)] = bestOf(src.row<T>(r), src.validCols, better);
  });
  legal = legal || visitWide<Standard>(src.type, [&]<class W>() {
            for (uint32_t r = 0; r < dst.validRows; ++r) {
              uint32_t best = 0;
              for (uint32_t c = 1; c < src.validCols; ++c)
                if (better(getWide<W>(src, r, c), getWide<W>(src, r, best)))
                  best = c;
              dst.as<uint32_t>()[r * rowStep(dst)] = best;
            }
          });
  if (!legal)
    illegalType(core, src.type);
}

/// dst(0, c) = the row of the first best element of src's column c.
template <class Insn, class F> void argReduceColumns(const Insn &insn, Core &core, F better) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  if (src.validCols < dst.validCols || src.validRows == 0 || dst.validRows != 1)
    return core.fault(FaultKind::IllegalShape, "dst is no row for the columns of src");
  bool legal = Floats::visit(src.type, [&]<class T>() {
    for (uint32_t c = 0; c < dst.validCols; c += lineChunk) { // a strip of columns at a time
      size_t n = std::min<size_t>(lineChunk, dst.validCols - c);
      float best[lineChunk];
      uint32_t place[lineChunk] = {};
      Widened<T> top(src.row<T>(0) + c, n);
      std::copy(top.data, top.data + n, best);
      for (uint32_t r = 1; r < src.validRows; ++r) {
        Widened<T> row(src.row<T>(r) + c, n);
        forBlocks(n, [&](size_t i) {
          bool wins = better(row.data[i], best[i]);
          best[i] = wins ? row.data[i] : best[i];
          place[i] = wins ? r : place[i];
        });
      }
      std::copy(place, place + n, dst.as<uint32_t>() + c);
    }
  });
  legal = legal || visitWide<Standard>(src.type, [&]<class W>() {
            for (uint32_t c = 0; c < dst.validCols; ++c) {
              uint32_t best = 0;
              for (uint32_t r = 1; r < src.validRows; ++r)
                if (better(getWide<W>(src, r, c), getWide<W>(src, best, c)))
                  best = r;
              dst.as<uint32_t>()[c] = best;
            }
          });
  if (!legal)
    illegalType(core, src.type);
}

/// values = src at the indices in dst, after an argument reduction of rows or columns (`shape`).
template <class Insn> void takeValues(const Insn &insn, Core &core, isa::Shape shape) {
  if (core.faulted())
    return;
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), values = core.tile(insn.values, isa::Memory::UB),
            src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  if (values.type != src.type)
    return illegalType(core, values.type);
  if (values.validRows != dst.validRows || values.validCols != dst.validCols)
    return core.fault(FaultKind::IllegalShape, "the values have not the valid region of the indices");
  Carriers::visit(carrier(src.type), [&]<class T>() {
    if (shape == isa::Shape::rowReduce)
      for (uint32_t r = 0; r < dst.validRows; ++r)
        values.as<T>()[r * rowStep(values)] = src.row<T>(r)[dst.as<uint32_t>()[r * rowStep(dst)]];
    else
      for (uint32_t c = 0; c < dst.validCols; ++c)
        values.as<T>()[c] = src.row<T>(dst.as<uint32_t>()[c])[c];
  });
}

} // namespace pto_mlir::cmodel

#endif
