#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TXors &insn, Core &core) { mapScalar<Integers>(insn, core, Xor()); }

} // namespace pto_mlir::cmodel
