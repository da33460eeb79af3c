#include "Insns/Insns.h"
#include "Memory/Transfer.h"

namespace pto_mlir::cmodel {

void execute(const isa::TExtractSb &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::SB), src = core.wholeTile(insn.src, isa::Memory::L1);
  if (!core.faulted())
    extractTile(core, dst, src, insn.row.value, insn.col.value);
}

} // namespace pto_mlir::cmodel
