#include "Insns/Insns.h"
#include "Tiles/Partial.h"

namespace pto_mlir::cmodel {

void execute(const isa::TPartadd &insn, Core &core) { mapPartial(insn, core, Add()); }

} // namespace pto_mlir::cmodel
