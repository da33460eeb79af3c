// Elementwise instructions on tiles of different valid regions: where only one source has an element it is copied;
// where neither has one, dst is 0.
#ifndef PTO_MLIR_CMODEL_PARTIAL_H
#define PTO_MLIR_CMODEL_PARTIAL_H

#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

/// dst = f(src0, src1) where both have an element; faults on different or illegal element types.
template <class Insn, class F> void mapPartial(const Insn &insn, Core &core, F f) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), a = core.tile(insn.src0, isa::Memory::UB),
            b = core.tile(insn.src1, isa::Memory::UB);
  if (core.faulted())
    return;
  if (a.type != dst.type || b.type != dst.type)
    return illegalType(core, dst.type);
  bool legal = Standard::visit(dst.type, [&]<class T>() {
    bool ordered = !disjointOrSame(dst, a) || !disjointOrSame(dst, b);
    for (uint32_t r = 0; r < dst.validRows; ++r) {
      // The columns that both sources have, as a line.
      uint32_t shared =
          ordered || r >= a.validRows || r >= b.validRows ? 0 : std::min({dst.validCols, a.validCols, b.validCols});
      mapLine(f, dst.row<T>(r), shared, a.row<T>(r), b.row<T>(r));
      for (uint32_t c = shared; c < dst.validCols; ++c) {
        bool inA = r < a.validRows && c < a.validCols, inB = r < b.validRows && c < b.validCols;
        T &d = dst.row<T>(r)[c];
        if (inA && inB)
          d = store<T>(f(load(a.row<T>(r)[c]), load(b.row<T>(r)[c])));
        else
          d = inA ? a.row<T>(r)[c] : inB ? b.row<T>(r)[c] : T();
      }
    }
  });
  legal = legal || visitWide<Standard>(dst.type, [&]<class W>() {
            for (uint32_t r = 0; r < dst.validRows; ++r)
              for (uint32_t c = 0; c < dst.validCols; ++c) {
                bool inA = r < a.validRows && c < a.validCols, inB = r < b.validRows && c < b.validCols;
                W x = inA ? getWide<W>(a, r, c) : W(), y = inB ? getWide<W>(b, r, c) : W();
                putWide<W>(dst, r, c, inA && inB ? W(f(x, y)) : inA ? x : y);
              }
          });
  if (!legal)
    illegalType(core, dst.type);
}

} // namespace pto_mlir::cmodel

#endif
