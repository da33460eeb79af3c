// Interleaving of the columns of two tiles, and its inverse.
#ifndef PTO_MLIR_CMODEL_INTERLEAVE_H
#define PTO_MLIR_CMODEL_INTERLEAVE_H

#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

/// Calls row(d0, d1, s0, s1, half) with the rows of two sources and two results of equal shape; `half` is half the
/// number of columns. Faults on an odd number of columns.
template <class Insn, class RowFn> void byHalves(const Insn &insn, Core &core, RowFn row) {
  LocalTile d0 = core.tile(insn.dst0, isa::Memory::UB), d1 = core.tile(insn.dst1, isa::Memory::UB);
  LocalTile s0 = core.tile(insn.src0, isa::Memory::UB), s1 = core.tile(insn.src1, isa::Memory::UB);
  if (core.faulted() || !sameShape(core, d0, {&d1, &s0, &s1}))
    return;
  if (d0.validCols % 2)
    return core.fault(FaultKind::IllegalShape, "an odd number of columns, " + std::to_string(d0.validCols));
  Carriers::visit(carrier(d0.type), [&]<class T>() {
    for (uint32_t r = 0; r < d0.validRows; ++r)
      row(d0.row<T>(r), d1.row<T>(r), s0.row<T>(r), s1.row<T>(r), d0.validCols / 2);
  });
}

} // namespace pto_mlir::cmodel

#endif
