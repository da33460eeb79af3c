#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TDeinterleave &insn, Core &core) {
  LocalTile d0 = core.tile(insn.dst0, isa::Memory::UB), d1 = core.tile(insn.dst1, isa::Memory::UB);
  LocalTile s0 = core.tile(insn.src0, isa::Memory::UB), s1 = core.tile(insn.src1, isa::Memory::UB);
  if (core.faulted() || !sameShape(core, d0, {&d1, &s0, &s1}))
    return;
  if (d0.validCols % 2)
    return core.fault(FaultKind::IllegalShape, "an odd number of columns, " + std::to_string(d0.validCols));
  Carriers::visit(carrier(d0.type), [&]<class T>() {
    uint32_t half = d0.validCols / 2;
    for (uint32_t r = 0; r < d0.validRows; ++r)
      for (uint32_t c = 0; c < half; ++c) {
        d0.row<T>(r)[c] = s0.row<T>(r)[2 * c];
        d1.row<T>(r)[c] = s0.row<T>(r)[2 * c + 1];
        d0.row<T>(r)[half + c] = s1.row<T>(r)[2 * c];
        d1.row<T>(r)[half + c] = s1.row<T>(r)[2 * c + 1];
      }
  });
}

} // namespace pto_mlir::cmodel
