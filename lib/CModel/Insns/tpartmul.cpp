#include "Insns/Insns.h"
#include "Tiles/Partial.h"

namespace pto_mlir::cmodel {

void execute(const isa::TPartmul &insn, Core &core) { mapPartial(insn, core, Multiply()); }

} // namespace pto_mlir::cmodel
