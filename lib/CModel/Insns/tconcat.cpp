#include "Insns/Insns.h"
#include "Tiles/Map.h"

#include <cstring>

namespace pto_mlir::cmodel {

void execute(const isa::TConcat &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), a = core.tile(insn.src0, isa::Memory::UB),
            b = core.tile(insn.src1, isa::Memory::UB);
  if (core.faulted())
    return;
  if (a.validRows < dst.validRows || b.validRows < dst.validRows || a.validCols + b.validCols != dst.validCols)
    return core.fault(FaultKind::IllegalShape, "rows of " + std::to_string(a.validCols) + " and " +
                                                   std::to_string(b.validCols) + " elements for one of " +
                                                   std::to_string(dst.validCols));
  for (uint32_t r = 0; r < dst.validRows; ++r) {
    uint8_t *to = dst.data + size_t(r) * dst.cols * dst.bytes;
    std::memmove(to, a.data + size_t(r) * a.cols * a.bytes, size_t(a.validCols) * a.bytes);
    std::memmove(to + a.validCols * a.bytes, b.data + size_t(r) * b.cols * b.bytes, size_t(b.validCols) * b.bytes);
  }
}

} // namespace pto_mlir::cmodel
