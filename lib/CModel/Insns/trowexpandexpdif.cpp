#include "Insns/Insns.h"
#include "Tiles/Expand.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRowexpandexpdif &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB);
  // The difference is rounded to the element type before the exponential.
  if (dst.type == isa::ElementType::f16) {
    mapRowExpand<Types<Half>>(insn, core, Subtract());
    mapUnary<Types<Half>>(dst, dst, core, Exp());
  } else {
    mapRowExpand<Types<float>>(insn, core, [](float a, float b) { return expFloat(a - b); });
  }
}

} // namespace pto_mlir::cmodel
