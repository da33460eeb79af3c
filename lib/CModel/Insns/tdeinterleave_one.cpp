#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TDeinterleaveOne &insn, Core &core) {
  LocalTile d0 = core.tile(insn.dst0, isa::Memory::UB), d1 = core.tile(insn.dst1, isa::Memory::UB),
            src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted() || !sameShape(core, d0, {&d1}))
    return;
  if (src.validRows < d0.validRows || src.validCols < 2 * d0.validCols)
    return core.fault(FaultKind::IllegalShape, "src has not twice as many columns as each dst");
  Carriers::visit(carrier(d0.type), [&]<class T>() {
    for (uint32_t r = 0; r < d0.validRows; ++r)
      for (uint32_t c = 0; c < d0.validCols; ++c) {
        T even = src.row<T>(r)[2 * c], odd = src.row<T>(r)[2 * c + 1];
        d0.row<T>(r)[c] = even;
        d1.row<T>(r)[c] = odd;
      }
  });
}

} // namespace pto_mlir::cmodel
