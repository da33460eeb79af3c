#include "Insns/Insns.h"
#include "Memory/Transfer.h"

namespace pto_mlir::cmodel {

void execute(const isa::TStoreAcc &insn, Core &core) {
  storeAccumulator(core, core.view(insn.dst), core.tile(insn.src, isa::Memory::L0C), insn.relu == isa::ReluMode::relu,
                   insn.atomic == isa::AtomicMode::add);
}

} // namespace pto_mlir::cmodel
