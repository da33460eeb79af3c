#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TSubrelu &insn, Core &core) {
  mapBinary<Floats>(insn, core, [](auto a, auto b) { return Relu()(a - b); });
}

} // namespace pto_mlir::cmodel
