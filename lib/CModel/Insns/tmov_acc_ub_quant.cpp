#include "Arithmetic/AccCast.h"
#include "Arithmetic/Quantise.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMovAccUbQuant &insn, Core &core) {
  LocalTile src = core.tile(insn.src, isa::Memory::L0C);
  if (core.faulted())
    return;
  uint64_t bits = descriptorBits(insn.descriptorLow.value, insn.descriptorHigh.value);
  moveToVectorCores(core, insn.dst, src, insn.cores, [&](const LocalTile &dst, AccHalf half) {
    moveQuantised(core, dst, src, {0, 0, half.row, half.col, dst.validRows, dst.validCols},
                  insn.relu == isa::ReluMode::relu, [&](uint32_t) { return bits; });
  });
}

} // namespace pto_mlir::cmodel
