#include "Insns/Insns.h"
#include "Tiles/Map.h"

#include <algorithm>
#include <cstring>

namespace pto_mlir::cmodel {

// Blocks of 32 bytes at byte offsets into src; an out-of-bounds offset leaves dst unchanged.
void execute(const isa::TGatherb &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.wholeTile(insn.src, isa::Memory::UB);
  LocalTile offsets = core.tile(insn.offsets, isa::Memory::UB);
  if (core.faulted())
    return;
  uint64_t srcBytes = uint64_t(src.rows) * src.cols * src.bytes, rowBytes = uint64_t(dst.validCols) * dst.bytes;
  if (src.type != dst.type || offsets.validRows < dst.validRows || offsets.validCols < (rowBytes + 31) / 32)
    return core.fault(FaultKind::IllegalShape,
                      "dst and src differ in type, or there are fewer offsets than blocks of dst");
  for (uint32_t r = 0; r < dst.validRows; ++r)
    for (uint64_t b = 0; b * 32 < rowBytes; ++b) {
      uint64_t from = offsets.row<uint32_t>(r)[b], n = std::min<uint64_t>(32, rowBytes - b * 32);
      if (from + n <= srcBytes)
        std::memmove(dst.data + uint64_t(r) * dst.cols * dst.bytes + b * 32, src.data + from, n);
    }
}

} // namespace pto_mlir::cmodel
