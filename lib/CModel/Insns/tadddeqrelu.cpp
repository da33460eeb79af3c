#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TAdddeqrelu &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), a = core.tile(insn.src0, isa::Memory::UB),
            b = core.tile(insn.src1, isa::Memory::UB);
  if (core.faulted() || !coverDst(core, dst, {&a, &b}))
    return;
  auto scale = scalarValue<float>(insn.scale.value);
  for (uint32_t r = 0; r < dst.validRows; ++r)
    for (uint32_t c = 0; c < dst.validCols; ++c)
      dst.row<Half>(r)[c] = toHalf(Relu()(scale * float(Add()(a.row<int32_t>(r)[c], b.row<int32_t>(r)[c]))));
}

} // namespace pto_mlir::cmodel
