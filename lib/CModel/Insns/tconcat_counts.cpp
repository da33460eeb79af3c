#include "Insns/Insns.h"
#include "Tiles/Map.h"

#include <cstring>

namespace pto_mlir::cmodel {

void execute(const isa::TConcatCounts &insn, Core &core) {
  auto ub = [&](const isa::Tile &t) { return core.tile(t, isa::Memory::UB); };
  LocalTile dst = ub(insn.dst), a = ub(insn.src0), b = ub(insn.src1), bytesA = ub(insn.bytes0),
            bytesB = ub(insn.bytes1);
  if (core.faulted())
    return;
  if (std::min({a.validRows, b.validRows, bytesA.validRows, bytesB.validRows}) < dst.validRows ||
      bytesA.validCols < 1 || bytesB.validCols < 1)
    return core.fault(FaultKind::IllegalShape, "a source has fewer rows than dst");
  for (uint32_t r = 0; r < dst.validRows; ++r) {
    auto count = [&](const LocalTile &bytes) {
      return loadWide<uint64_t>(bytes.type, bytes.data + r * rowStep(bytes) * bytes.bytes) / bytes.bytes;
    };
    uint64_t fromA = count(bytesA), fromB = count(bytesB);
    if (fromA > a.validCols || fromB > b.validCols || fromA + fromB > dst.validCols)
      return core.fault(FaultKind::OutOfRange, "row " + std::to_string(r) + " takes " + std::to_string(fromA) +
                                                   " and " + std::to_string(fromB) + " elements of rows of " +
                                                   std::to_string(a.validCols) + " and " + std::to_string(b.validCols) +
                                                   " into one of " + std::to_string(dst.validCols));
    uint8_t *to = dst.data + size_t(r) * dst.cols * dst.bytes;
    std::memmove(to, a.data + size_t(r) * a.cols * a.bytes, fromA * a.bytes);
    std::memmove(to + fromA * a.bytes, b.data + size_t(r) * b.cols * b.bytes, fromB * b.bytes);
  }
}

} // namespace pto_mlir::cmodel
