#include "Insns.h"
#include "ReluConvert.h"

namespace pto_mlir::cmodel {

void execute(const isa::TAddreluconv &insn, Core &core) { mapReluConvert(insn, core, Add()); }

} // namespace pto_mlir::cmodel
