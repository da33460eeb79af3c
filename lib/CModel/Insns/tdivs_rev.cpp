#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TDivsRev &insn, Core &core) {
  mapScalar<Floats>(insn, core, [](auto a, auto s) { return s / a; });
}

} // namespace pto_mlir::cmodel
