#include "Arithmetic/Quantise.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TStoreAccQuantv &insn, Core &core) {
  LocalTile src = core.tile(insn.src, isa::Memory::L0C), scales = core.tile(insn.scales, isa::Memory::FB);
  if (core.faulted())
    return;
  if (scales.validRows < 1 || scales.validCols < src.validCols)
    return core.fault(FaultKind::IllegalShape, std::to_string(scales.validCols) + " descriptors for " +
                                                   std::to_string(src.validCols) + " columns");
  storeQuantised(core, core.view(insn.dst), src, insn.relu == isa::ReluMode::relu,
                 [&](uint32_t col) { return fixpipeDescriptor(scales.as<uint64_t>()[col]); });
}

} // namespace pto_mlir::cmodel
