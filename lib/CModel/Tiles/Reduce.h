// Reductions of rows and columns.
#ifndef PTO_MLIR_CMODEL_REDUCE_H
#define PTO_MLIR_CMODEL_REDUCE_H

#include "Tiles/Map.h"

#include <cstring>

namespace pto_mlir::cmodel {

/// Reduces n elements. Each of 16 accumulators takes every 16th element in order; then they are combined pairwise (i
/// with i + 8, i + 4, i + 2, i + 1). The order depends on n only. f16 is accumulated in f32.
template <class T, class F> Compute<T> reduceLine(const T *x, size_t n, F f) {
  constexpr size_t lanes = 16, chunk = std::is_same_v<T, Half> ? lineChunk : size_t(-1);
  static_assert(chunk == size_t(-1) || chunk % lanes == 0);
  if (n < lanes) {
    Compute<T> result = load(x[0]);
    for (size_t i = 1; i < n; ++i)
      result = f(result, load(x[i]));
    return result;
  }
  Compute<T> sum[lanes];
  for (size_t at = 0; at < n; at += std::min(chunk, n - at)) {
    size_t count = std::min(chunk, n - at), i = 0;
    Widened<T> wide(x + at, count);
    if (at == 0)
      for (; i < lanes; ++i)
        sum[i] = wide.data[i];
    for (; i + lanes <= count; i += lanes)
      for (size_t j = 0; j < lanes; ++j)
        sum[j] = f(sum[j], wide.data[i + j]);
    for (size_t j = 0; i < count; ++i, ++j)
      sum[j] = f(sum[j], wide.data[i]);
  }
  for (size_t width = lanes / 2; width > 0; width /= 2)
    for (size_t j = 0; j < width; ++j)
      sum[j] = f(sum[j], sum[j + width]);
  return sum[0];
}

/// dst(r, 0) = the reduction of src's row r; dst is a DN column, or column 0 of ND. src is ND with at least one valid
/// column.
template <class Legal = Standard, class Insn, class F> void reduceRows(const Insn &insn, Core &core, F f) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  if (src.type != dst.type || src.validRows < dst.validRows || src.validCols == 0 || dst.validCols != 1)
    return core.fault(FaultKind::IllegalShape, "reduction of rows of " + std::to_string(src.validRows) + "x" +
                                                   std::to_string(src.validCols) + " into " +
                                                   std::to_string(dst.validRows) + "x" + std::to_string(dst.validCols));
  bool legal = Legal::visit(dst.type, [&]<class T>() {
    for (uint32_t r = 0; r < dst.validRows; ++r)
      dst.as<T>()[r * rowStep(dst)] = store<T>(reduceLine(src.row<T>(r), src.validCols, f));
  });
  legal = legal || visitWide<Legal>(dst.type, [&]<class W>() {
            for (uint32_t r = 0; r < dst.validRows; ++r) {
              W result = getWide<W>(src, r, 0);
              for (uint32_t c = 1; c < src.validCols; ++c)
                result = f(result, getWide<W>(src, r, c));
              storeWide<W>(dst.type, dst.data + r * rowStep(dst) * dst.bytes, result);
            }
          });
  if (!legal)
    illegalType(core, dst.type);
}

/// dst(0, c) = the reduction of src's column c in ascending rows, rounded to dst's type at every step.
template <class Legal = Standard, class Insn, class F> void reduceColumns(const Insn &insn, Core &core, F f) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  if (src.type != dst.type || src.validCols < dst.validCols || src.validRows == 0 || dst.validRows != 1)
    return core.fault(FaultKind::IllegalShape, "reduction of columns of " + std::to_string(src.validRows) + "x" +
                                                   std::to_string(src.validCols) + " into " +
                                                   std::to_string(dst.validRows) + "x" + std::to_string(dst.validCols));
  bool legal = Legal::visit(dst.type, [&]<class T>() {
    // A strip of columns at a time: the accumulators stay in registers or the L1 cache, and dst may alias src.
    constexpr uint32_t strip = 64;
    for (uint32_t c = 0; c < dst.validCols; c += strip) {
      uint32_t n = std::min(strip, dst.validCols - c);
      T sum[strip];
      std::memcpy(sum, src.row<T>(0) + c, n * sizeof(T));
      for (uint32_t r = 1; r < src.validRows; ++r) {
        mapLine(f, sum, n, sum, src.row<T>(r) + c);
      }
      std::memcpy(dst.as<T>() + c, sum, n * sizeof(T));
    }
  });
  legal = legal || visitWide<Legal>(dst.type, [&]<class W>() {
            for (uint32_t c = 0; c < dst.validCols; ++c) {
              uint64_t room; // holds an element of any type
              auto *element = reinterpret_cast<uint8_t *>(&room);
              std::memcpy(element, src.data + c * src.bytes, src.bytes);
              for (uint32_t r = 1; r < src.validRows; ++r)
                storeWide<W>(dst.type, element, f(loadWide<W>(dst.type, element), getWide<W>(src, r, c)));
              std::memcpy(dst.data + c * dst.bytes, element, dst.bytes);
            }
          });
  if (!legal)
    illegalType(core, dst.type);
}

} // namespace pto_mlir::cmodel

#endif
