#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TOr &insn, Core &core) { mapBinary<Integers>(insn, core, Or()); }

} // namespace pto_mlir::cmodel
