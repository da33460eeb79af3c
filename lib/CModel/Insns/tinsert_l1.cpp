#include "Arithmetic/Quantise.h"
#include "Insns/Insns.h"

#include <cstring>

namespace pto_mlir::cmodel {

void execute(const isa::TInsertL1 &insn, Core &core) {
  LocalTile src = core.tile(insn.src, isa::Memory::UB);
  LocalTile dst = core.peerTile(insn.dst, isa::Memory::L1, 0, /*whole=*/true);
  if (core.faulted() || !dst.data) // no cube core is part of the launch
    return;
  PartMove part{insn.row.value, insn.col.value, insn.srcRow.value, insn.srcCol.value, insn.rows.value, insn.cols.value};
  if (!part.fits(core, dst, src))
    return;
  for (int64_t r = 0; r < part.rows; ++r)
    for (int64_t c = 0; c < part.cols; ++c)
      std::memcpy(dst.data + dst.offset(uint32_t(part.row + r), uint32_t(part.col + c)) * dst.bytes,
                  src.data + src.offset(uint32_t(part.srcRow + r), uint32_t(part.srcCol + c)) * src.bytes, src.bytes);
}

} // namespace pto_mlir::cmodel
