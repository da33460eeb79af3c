// Instructions that broadcast one value per row or column over a tile.
#ifndef PTO_MLIR_CMODEL_EXPAND_H
#define PTO_MLIR_CMODEL_EXPAND_H

#include "Tiles/Map.h"

#include <cstring>

namespace pto_mlir::cmodel {

/// Checks that both tiles have dst's type, `big` its valid region and `small` a value per row (column); faults
/// otherwise.
bool expandShapes(Core &core, const LocalTile &dst, const LocalTile *big, const LocalTile &small, bool perRow);

/// dst(r, c) = f(src0(r, c), src1(r, 0)); src1 is a DN column, or ND whose rows hold a block of copies.
template <class Legal = Standard, class Insn, class F> void mapRowExpand(const Insn &insn, Core &core, F f) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), a = core.tile(insn.src0, isa::Memory::UB),
            b = core.tile(insn.src1, isa::Memory::UB);
  if (core.faulted() || !expandShapes(core, dst, &a, b, true))
    return;
  bool legal = Legal::visit(dst.type, [&]<class T>() {
    bool ordered = !disjointOrSame(dst, a);
    for (uint32_t r = 0; r < dst.validRows; ++r) {
      auto y = load(b.as<T>()[r * rowStep(b)]);
      T *d = dst.row<T>(r);
      const T *x = a.row<T>(r);
      if (ordered) {
        for (uint32_t c = 0; c < dst.validCols; ++c)
          d[c] = store<T>(f(load(x[c]), y));
        continue;
      }
      mapLine([&](auto v) { return f(v, y); }, d, dst.validCols, x);
    }
  });
  legal = legal || visitWide<Legal>(dst.type, [&]<class W>() {
            for (uint32_t r = 0; r < dst.validRows; ++r) {
              W y = loadWide<W>(b.type, b.data + r * rowStep(b) * b.bytes);
              for (uint32_t c = 0; c < dst.validCols; ++c)
                putWide<W>(dst, r, c, W(f(getWide<W>(a, r, c), y)));
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
