#include "Arithmetic/Quantise.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TStoreAccQuant &insn, Core &core) {
  uint64_t bits = descriptorBits(insn.descriptorLow.value, insn.descriptorHigh.value);
  storeQuantised(
      core, core.view(insn.dst), core.tile(insn.src, isa::Memory::L0C), insn.relu == isa::ReluMode::relu,
      [&](uint32_t) { return bits; }, insn.atomic == isa::AtomicMode::add);
}

} // namespace pto_mlir::cmodel
