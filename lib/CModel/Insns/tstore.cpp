#include "Insns/Insns.h"
#include "Memory/Transfer.h"

namespace pto_mlir::cmodel {

void execute(const isa::TStore &insn, Core &core) {
  storeTile(core, core.view(insn.dst), core.tile(insn.src, insn.space), insn.atomic == isa::AtomicMode::add);
}

} // namespace pto_mlir::cmodel
