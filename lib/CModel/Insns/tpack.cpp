#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TPack &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted() || !coverDst(core, dst, {&src}))
    return;
  for (uint32_t r = 0; r < dst.validRows; ++r)
    for (uint32_t c = 0; c < dst.validCols; ++c)
      putWide<uint64_t>(dst, r, c, uint64_t(getWide<int64_t>(src, r, c)));
}

} // namespace pto_mlir::cmodel
