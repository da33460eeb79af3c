#include "Insns.h"
#include "Mask.h"

namespace pto_mlir::cmodel {

void execute(const isa::TSels &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), mask = core.wholeTile(insn.mask, isa::Memory::UB);
  LocalTile a = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted() || !sameShape(core, dst, {&a}) || !maskFits(core, mask, dst.validRows, dst.validCols))
    return;
  using Selectable = Types<float, Half, int16_t, uint16_t, int32_t, uint32_t>;
  bool legal = Selectable::visit(dst.type, [&]<class T>() {
    T other = store<T>(scalarValue<T>(insn.scalar.value));
    for (uint32_t r = 0; r < dst.validRows; ++r) {
      const uint8_t *bits = maskRow(mask, r);
      const T *x = a.row<T>(r);
      T *d = dst.row<T>(r);
      for (uint32_t c = 0; c < dst.validCols; ++c)
        d[c] = bits[c / 8] >> (c % 8) & 1 ? x[c] : other;
    }
  });
  if (!legal)
    illegalType(core, dst.type);
}

} // namespace pto_mlir::cmodel
