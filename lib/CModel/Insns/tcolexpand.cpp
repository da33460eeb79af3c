#include "Insns/Insns.h"
#include "Tiles/Expand.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColexpand &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted() || !expandShapes(core, dst, nullptr, src, false))
    return;
  for (uint32_t r = 0; r < dst.validRows; ++r)
    std::memmove(dst.data + size_t(r) * dst.cols * dst.bytes, src.data, size_t(dst.validCols) * dst.bytes);
}

} // namespace pto_mlir::cmodel
