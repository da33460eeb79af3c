#include "Arithmetic/Remainder.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TDivsRev &insn, Core &core) {
  LocalTile src = core.tile(insn.src, isa::Memory::UB);
  if (!core.faulted() && divides(core, src, src.validRows, src.validCols))
    mapScalar<Standard>(insn, core, [](auto a, auto s) { return Divide()(s, a); });
}

} // namespace pto_mlir::cmodel
