#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TXor &insn, Core &core) { mapBinary<Integers>(insn, core, Xor()); }

} // namespace pto_mlir::cmodel
