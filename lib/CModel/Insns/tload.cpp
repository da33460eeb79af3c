#include "Insns/Insns.h"
#include "Memory/Transfer.h"

namespace pto_mlir::cmodel {

void execute(const isa::TLoad &insn, Core &core) {
  int64_t lines = isa::loadLines(insn.dst).value;
  if (lines > int64_t(isa::mostLoadLines(insn.space)))
    return core.fault(FaultKind::IllegalShape, "moves " + std::to_string(lines) +
                                                   " rows or columns at once, the most is " +
                                                   std::to_string(isa::mostLoadLines(insn.space)));
  loadTile(core, core.tile(insn.dst, insn.space), core.view(insn.src));
}

} // namespace pto_mlir::cmodel
