#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TPrelu &insn, Core &core) {
  mapBinary<Floats>(insn, core, [](auto a, auto s) { return a > 0 ? a : a * s; });
}

} // namespace pto_mlir::cmodel
