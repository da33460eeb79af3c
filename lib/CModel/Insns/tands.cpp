#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TAnds &insn, Core &core) { mapScalar<Integers>(insn, core, And()); }

} // namespace pto_mlir::cmodel
