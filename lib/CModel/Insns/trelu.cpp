#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRelu &insn, Core &core) { mapUnary<Reluable>(insn, core, Relu()); }

} // namespace pto_mlir::cmodel
