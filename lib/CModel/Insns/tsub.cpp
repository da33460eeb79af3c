#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TSub &insn, Core &core) { mapBinary<Standard>(insn, core, Subtract()); }

} // namespace pto_mlir::cmodel
