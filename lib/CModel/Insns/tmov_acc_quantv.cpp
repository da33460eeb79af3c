#include "Arithmetic/Quantise.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMovAccQuantv &insn, Core &core) {
  LocalTile scales = core.tile(insn.scales, isa::Memory::FB);
  if (core.faulted())
    return;
  if (scales.validRows < 1 || int64_t(scales.validCols) < insn.cols.value)
    return core.fault(FaultKind::IllegalShape, std::to_string(scales.validCols) + " descriptors for " +
                                                   std::to_string(insn.cols.value) + " columns");
  moveQuantised(
      core, core.wholeTile(insn.dst, isa::Memory::L1), core.tile(insn.src, isa::Memory::L0C),
      {insn.row.value, insn.col.value, insn.srcRow.value, insn.srcCol.value, insn.rows.value, insn.cols.value},
      insn.relu == isa::ReluMode::relu, [&](uint32_t col) { return fixpipeDescriptor(scales.as<uint64_t>()[col]); });
}

} // namespace pto_mlir::cmodel
