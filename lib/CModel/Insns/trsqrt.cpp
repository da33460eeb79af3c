#include "Arithmetic/RsqrtLine.h"
#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRsqrt &insn, Core &core) {
#if defined(PTO_HAVE_RSQRT_LINE)
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  if (dst.type == isa::ElementType::f32 && sameShape(core, dst, {&src}) && mapLines<float>(dst, rsqrtLine, src))
    return;
#endif
  if (!core.faulted())
    mapUnary<Floats>(insn, core, ReciprocalSqrt());
}

} // namespace pto_mlir::cmodel
