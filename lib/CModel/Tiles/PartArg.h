// Elementwise argmax and argmin of two tiles of different valid regions.
#ifndef PTO_MLIR_CMODEL_PARTARG_H
#define PTO_MLIR_CMODEL_PARTARG_H

#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

/// dst = src0 where better(src0, src1), else src1; dstIndices likewise. Where only one source has an element it is
/// copied; where neither has one, dst is 0.
template <class Insn, class F> void mapPartArg(const Insn &insn, Core &core, F better) {
  auto ub = [&](const isa::Tile &t) { return core.tile(t, isa::Memory::UB); };
  LocalTile dst = ub(insn.dst), dstIndices = ub(insn.dstIndices), a = ub(insn.src0), b = ub(insn.src1),
            ia = ub(insn.indices0), ib = ub(insn.indices1);
  if (core.faulted())
    return;
  auto covers = [](const LocalTile &indices, const LocalTile &values) {
    return indices.validRows >= values.validRows && indices.validCols >= values.validCols;
  };
  if (!covers(dstIndices, dst) || !covers(ia, a) || !covers(ib, b))
    return core.fault(FaultKind::IllegalShape, "there are fewer indices than values");
  Floats::visit(dst.type, [&]<class T>() {
    for (uint32_t r = 0; r < dst.validRows; ++r)
      for (uint32_t c = 0; c < dst.validCols; ++c) {
        bool inA = r < a.validRows && c < a.validCols, inB = r < b.validRows && c < b.validCols;
        bool first = inA && (!inB || better(load(a.row<T>(r)[c]), load(b.row<T>(r)[c])));
        dst.row<T>(r)[c] = first ? a.row<T>(r)[c] : inB ? b.row<T>(r)[c] : T();
        dstIndices.row<uint32_t>(r)[c] = first ? ia.row<uint32_t>(r)[c] : inB ? ib.row<uint32_t>(r)[c] : 0;
      }
  });
}

} // namespace pto_mlir::cmodel

#endif
