// Instructions that broadcast one value per row or column over a tile.
#ifndef PTO_MLIR_CMODEL_EXPAND_H
#define PTO_MLIR_CMODEL_EXPAND_H

#include "Tiles/Map.h"

#include <cstring>

namespace pto_mlir::cmodel {

/// Checks that both tiles have dst's type, `big` its valid region and `small` a value per row (column); faults
/// otherwise.
bool expandShapes(Core &core, const LocalTile &dst, const LocalTile *big, const LocalTile &small, bool perRow);

/// Elements of a 32-byte block.
template <class T> constexpr uint32_t kLanes = 32 / sizeof(T);

/// Values per row of a broadcast operand: a DN column has one, an ND tile a block of 32 bytes where that much is valid.
inline uint32_t rowLanes(const LocalTile &small) {
  return small.is(isa::Layout::ND) && small.bytes && small.validCols * small.bytes >= 32 ? 32 / small.bytes : 1;
}

/// One row with the block `y` of several lanes, which repeats along it.
template <class T, class F> void mapLanes(F f, T *d, const T *x, const T *y, uint32_t cols) {
  constexpr uint32_t wide = 16 * kLanes<T>;
  T copies[wide];
  for (uint32_t c = 0; c < wide; c += kLanes<T>)
    std::memcpy(copies + c, y, 32);
  for (uint32_t c = 0; c < cols; c += wide)
    mapLine(f, d + c, std::min(wide, cols - c), x + c, copies);
}

/// dst(r, c) = f(src0(r, c), y), y = src1(r, 0) of a DN column; of ND rows the block of 32 bytes repeats along the row.
template <class Legal = Standard, class Insn, class F> void mapRowExpand(const Insn &insn, Core &core, F f) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), a = core.tile(insn.src0, isa::Memory::UB),
            b = core.tile(insn.src1, isa::Memory::UB);
  if (core.faulted() || !expandShapes(core, dst, &a, b, true))
    return;
  uint32_t lanes = rowLanes(b);
  bool legal = Legal::visit(dst.type, [&]<class T>() {
    bool ordered = !disjointOrSame(dst, a);
    for (uint32_t r = 0; r < dst.validRows; ++r) {
      T block[kLanes<T>];
      std::memcpy(block, b.as<T>() + r * rowStep(b), lanes * sizeof(T));
      auto y = load(block[0]);
      T *d = dst.row<T>(r);
      const T *x = a.row<T>(r);
      if (ordered)
        for (uint32_t c = 0; c < dst.validCols; ++c)
          d[c] = store<T>(f(load(x[c]), load(block[c % lanes])));
      else if (lanes > 1)
        mapLanes(f, d, x, block, dst.validCols);
      else
        mapLine([&](auto v) { return f(v, y); }, d, dst.validCols, x);
    }
  });
  legal = legal || visitWide<Legal>(dst.type, [&]<class W>() {
            for (uint32_t r = 0; r < dst.validRows; ++r) {
              W block[32];
              for (uint32_t i = 0; i < lanes; ++i)
                block[i] = loadWide<W>(b.type, b.data + (r * rowStep(b) + i) * b.bytes);
              for (uint32_t c = 0; c < dst.validCols; ++c)
                putWide<W>(dst, r, c, W(f(getWide<W>(a, r, c), block[c % lanes])));
            }
          });
  if (!legal)
    illegalType(core, dst.type);
}

/// dst(r, c) = f(src0(r, c), src1(0, c)), all ND.
template <class Legal = Standard, class Insn, class F> void mapColExpand(const Insn &insn, Core &core, F f) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), a = core.tile(insn.src0, isa::Memory::UB),
            b = core.tile(insn.src1, isa::Memory::UB);
  if (core.faulted() || !expandShapes(core, dst, &a, b, false))
    return;
  bool legal = Legal::visit(dst.type, [&]<class T>() {
    uint32_t cols = dst.validCols, rows = dst.validRows;
    auto line = [&](T *d, const T *x, const T *y, size_t n) { mapLine(f, d, n, x, y); };
    if (!disjointOrSame(dst, a)) {
      for (uint32_t r = 0; r < rows; ++r)
        for (uint32_t c = 0; c < cols; ++c)
          line(dst.row<T>(r) + c, a.row<T>(r) + c, b.row<T>(0) + c, 1);
      return;
    }
    // Narrow tiles without gaps: several copies of the row side by side give long lines.
    constexpr uint32_t wide = 1024;
    if (cols == dst.cols && cols == a.cols && cols > 0 && cols <= wide / 2 && rows > 2) {
      T copies[wide];
      uint32_t repeat = std::min(rows, wide / cols);
      for (uint32_t i = 0; i < repeat; ++i)
        std::memcpy(copies + i * cols, b.as<T>(), cols * sizeof(T));
      for (uint32_t r = 0; r < rows; r += repeat)
        line(dst.row<T>(r), a.row<T>(r), copies, size_t(std::min(repeat, rows - r)) * cols);
      return;
    }
    for (uint32_t r = 0; r < rows; ++r)
      line(dst.row<T>(r), a.row<T>(r), b.as<T>(), cols);
  });
  legal = legal || visitWide<Legal>(dst.type, [&]<class W>() {
            for (uint32_t r = 0; r < dst.validRows; ++r)
              for (uint32_t c = 0; c < dst.validCols; ++c)
                putWide<W>(dst, r, c, W(f(getWide<W>(a, r, c), getWide<W>(b, 0, c))));
          });
  if (!legal)
    illegalType(core, dst.type);
}

} // namespace pto_mlir::cmodel

#endif
