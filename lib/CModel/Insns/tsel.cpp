#include "Insns/Insns.h"
#include "Tiles/Mask.h"

namespace pto_mlir::cmodel {

void execute(const isa::TSel &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), mask = core.wholeTile(insn.mask, isa::Memory::UB);
  LocalTile a = core.tile(insn.src0, isa::Memory::UB), b = core.tile(insn.src1, isa::Memory::UB);
  if (core.faulted() || !sameShape(core, dst, {&a, &b}) || !maskFits(core, mask, dst.validRows, dst.validCols))
    return;
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    for (uint32_t r = 0; r < dst.validRows; ++r) {
      const T *y = b.row<T>(r);
      selectRow(dst.row<T>(r), maskRow(mask, r), a.row<T>(r), dst.validCols, [&](uint32_t c) { return y + c; });
    }
  });
}

} // namespace pto_mlir::cmodel
