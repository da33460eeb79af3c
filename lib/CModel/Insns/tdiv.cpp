#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TDiv &insn, Core &core) { mapBinary<Floats>(insn, core, Divide()); }

} // namespace pto_mlir::cmodel
