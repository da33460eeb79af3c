#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMov &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted() || !sameShape(core, dst, {&src}))
    return;
  dst.type = src.type = carrier(dst.type);
  mapUnary<Carriers>(dst, src, core, Identity());
}

} // namespace pto_mlir::cmodel
