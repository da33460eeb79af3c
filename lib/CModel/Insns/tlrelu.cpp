#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TLrelu &insn, Core &core) {
  mapScalar<Floats>(insn, core, [](auto a, auto s) { return a > 0 ? a : a * s; });
}

} // namespace pto_mlir::cmodel
