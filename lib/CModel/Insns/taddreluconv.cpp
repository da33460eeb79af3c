#include "Arithmetic/ReluConvert.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TAddreluconv &insn, Core &core) { mapReluConvert(insn, core, Add()); }

} // namespace pto_mlir::cmodel
