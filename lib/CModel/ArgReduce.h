// Where the best element of each row or column stands; the first of equal ones.
#ifndef PTO_MLIR_CMODEL_ARGREDUCE_H
#define PTO_MLIR_CMODEL_ARGREDUCE_H

#include "Map.h"

namespace pto_mlir::cmodel {

/// dst(r, 0) = the column of src's row r whose element `better` prefers to all before it.
template <class Insn, class F> void argReduceRows(const Insn &insn, Core &core, F better) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  if (src.validRows < dst.validRows || src.validCols == 0 || dst.validCols != 1)
    return core.fault(FaultKind::IllegalShape, "dst is no column for the rows of src");
  bool legal = Floats::visit(src.type, [&]<class T>() {
    for (uint32_t r = 0; r < dst.validRows; ++r) {
      uint32_t best = 0;
      for (uint32_t c = 1; c < src.validCols; ++c)
        if (better(load(src.row<T>(r)[c]), load(src.row<T>(r)[best])))
          best = c;
      dst.as<uint32_t>()[r * rowStep(dst)] = best;
    }
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

/// dst(0, c) = the row of src's column c.
template <class Insn, class F> void argReduceColumns(const Insn &insn, Core &core, F better) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  if (src.validCols < dst.validCols || src.validRows == 0 || dst.validRows != 1)
    return core.fault(FaultKind::IllegalShape, "dst is no row for the columns of src");
  bool legal = Floats::visit(src.type, [&]<class T>() {
    for (uint32_t c = 0; c < dst.validCols; ++c) {
      uint32_t best = 0;
      for (uint32_t r = 1; r < src.validRows; ++r)
        if (better(load(src.row<T>(r)[c]), load(src.row<T>(best)[c])))
          best = r;
      dst.as<uint32_t>()[c] = best;
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

} // namespace pto_mlir::cmodel

#endif
