#include "Insns.h"
#include "Transfer.h"

namespace pto_mlir::cmodel {

void execute(const isa::TLoad &insn, Core &core) {
  loadTile(core, core.tile(insn.dst, insn.space), core.view(insn.src));
}

} // namespace pto_mlir::cmodel
