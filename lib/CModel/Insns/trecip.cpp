#include "Arithmetic/Remainder.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRecip &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (!core.faulted() && sameShape(core, dst, {&src}) && divides(core, src, dst.validRows, dst.validCols))
    mapUnary<Standard>(dst, src, core, Reciprocal());
}

} // namespace pto_mlir::cmodel
