#include "Insns.h"
#include "Quantise.h"

namespace pto_mlir::cmodel {

void execute(const isa::TStoreAccQuant &insn, Core &core) {
  storeQuantised(core, core.view(insn.dst), core.tile(insn.src, isa::Memory::L0C), insn.relu == isa::ReluMode::relu,
                 [&](uint32_t) { return scalarDescriptor(uint64_t(insn.descriptor)); });
}

} // namespace pto_mlir::cmodel
