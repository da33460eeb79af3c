#include "Insns/Insns.h"
#include "Memory/Transfer.h"

namespace pto_mlir::cmodel {

void execute(const isa::TExtractL0a &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::L0A), src = core.wholeTile(insn.src, isa::Memory::L1);
  if (core.faulted())
    return;
  core.leftPanels.invalidate(dst);
  extractTile(core, dst, src, insn.row.value, insn.col.value);
}

} // namespace pto_mlir::cmodel
