#include "Insns/Insns.h"
#include "Machine/Core.h"

#include <cstring>

namespace pto_mlir::cmodel {

void execute(const isa::TInsertUb &insn, Core &core) {
  LocalTile dst = core.wholeTile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  int64_t row = insn.row.value, col = insn.col.value;
  if (row < 0 || col < 0 || row > int64_t(dst.rows) - src.validRows || col > int64_t(dst.cols) - src.validCols)
    return core.fault(FaultKind::OutOfRange, "a part of " + std::to_string(src.validRows) + "x" +
                                                 std::to_string(src.validCols) + " at (" + std::to_string(row) + ", " +
                                                 std::to_string(col) + ") leaves dst's box");
  for (uint32_t r = 0; r < src.validRows; ++r)
    std::memmove(dst.data + ((size_t(row) + r) * dst.cols + size_t(col)) * dst.bytes,
                 src.data + size_t(r) * src.cols * src.bytes, size_t(src.validCols) * src.bytes);
}

} // namespace pto_mlir::cmodel
