#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TAdd &insn, Core &core) { mapBinary<Standard>(insn, core, Add()); }

} // namespace pto_mlir::cmodel
