#include "Insns/Insns.h"
#include "Memory/Transfer.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMovFb &insn, Core &core) {
  extractTile(core, core.tile(insn.dst, isa::Memory::FB), core.wholeTile(insn.src, isa::Memory::L1), 0, insn.col.value);
}

} // namespace pto_mlir::cmodel
