#include "Insns/Insns.h"
#include "Tiles/MergeLists.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMrgsort2 &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB);
  const LocalTile lists[] = {core.tile(insn.src0, isa::Memory::UB), core.tile(insn.src1, isa::Memory::UB)};
  core.engine().registers[insn.counts] = mergeLists(core, dst, lists, insn.exhausted == isa::Switch::on);
}

} // namespace pto_mlir::cmodel
