#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TAdds &insn, Core &core) { mapScalar<Standard>(insn, core, Add()); }

} // namespace pto_mlir::cmodel
