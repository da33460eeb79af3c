#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TOrs &insn, Core &core) { mapScalar<Integers>(insn, core, Or()); }

} // namespace pto_mlir::cmodel
