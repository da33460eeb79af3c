#include "Insns/Insns.h"
#include "Tiles/Expand.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColexpandexpdif &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB);
  // The difference is rounded to the element type before the exponential.
  if (dst.type == isa::ElementType::f16)
    mapColExpand<Types<Half>>(insn, core, [](float a, float b) { return expFloat(load(toHalf(a - b))); });
  else
    mapColExpand<Types<float>>(insn, core, [](float a, float b) { return expFloat(a - b); });
}

} // namespace pto_mlir::cmodel
