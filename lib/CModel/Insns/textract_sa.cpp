#include "Insns/Insns.h"
#include "Memory/Transfer.h"

namespace pto_mlir::cmodel {

void execute(const isa::TExtractSa &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::SA), src = core.wholeTile(insn.src, isa::Memory::L1);
  if (!core.faulted())
    extractTile(core, dst, src, insn.row.value, insn.col.value);
}

} // namespace pto_mlir::cmodel
