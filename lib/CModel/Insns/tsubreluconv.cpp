#include "Arithmetic/ReluConvert.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TSubreluconv &insn, Core &core) { mapReluConvert(insn, core, Subtract()); }

} // namespace pto_mlir::cmodel
