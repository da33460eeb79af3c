#include "Arithmetic/Quantise.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMovAccQuant &insn, Core &core) {
  moveQuantised(
      core, core.wholeTile(insn.dst, isa::Memory::L1), core.tile(insn.src, isa::Memory::L0C),
      {insn.row.value, insn.col.value, insn.srcRow.value, insn.srcCol.value, insn.rows.value, insn.cols.value},
      insn.relu == isa::ReluMode::relu,
      [&](uint32_t) { return descriptorBits(insn.descriptorLow.value, insn.descriptorHigh.value); });
}

} // namespace pto_mlir::cmodel
