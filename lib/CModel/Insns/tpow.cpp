#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TPow &insn, Core &core) { mapBinary<Powerable>(insn, core, Power()); }

} // namespace pto_mlir::cmodel
