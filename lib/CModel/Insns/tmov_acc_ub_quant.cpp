#include "AccCast.h"
#include "Insns.h"
#include "Quantise.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMovAccUbQuant &insn, Core &core) {
  LocalTile src = core.tile(insn.src, isa::Memory::L0C);
  if (core.faulted())
    return;
  uint64_t bits = descriptorBits(insn.descriptorLow.value, insn.descriptorHigh.value);
  moveToVectorCores(core, insn.dst, src, insn.cores, [&](const LocalTile &dst, uint32_t r, uint32_t c, uint32_t fromRow, uint32_t fromCol) {
    moveQuantisedElement(core, dst, r, c, src, fromRow, fromCol, bits, insn.relu == isa::ReluMode::relu);
  });
}

} // namespace pto_mlir::cmodel
