#include "Insns.h"
#include "Mask.h"

namespace pto_mlir::cmodel {

void execute(const isa::TSel &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), mask = core.wholeTile(insn.mask, isa::Memory::UB);
  LocalTile a = core.tile(insn.src0, isa::Memory::UB), b = core.tile(insn.src1, isa::Memory::UB);
  if (core.faulted() || !sameShape(core, dst, {&a, &b}) || !maskFits(core, mask, dst.validRows, dst.validCols))
    return;
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    for (uint32_t r = 0; r < dst.validRows; ++r) {
      const uint8_t *bits = maskRow(mask, r);
      const T *x = a.row<T>(r), *y = b.row<T>(r);
      T *d = dst.row<T>(r);
      for (uint32_t c = 0; c < dst.validCols; ++c)
        d[c] = bits[c / 8] >> (c % 8) & 1 ? x[c] : y[c];
    }
  });
}

} // namespace pto_mlir::cmodel
