#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TPows &insn, Core &core) { mapScalar<Powerable>(insn, core, Power()); }

} // namespace pto_mlir::cmodel
