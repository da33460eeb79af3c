#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::THistogram &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB),
            filter = core.tile(insn.filter, isa::Memory::UB);
  if (core.faulted())
    return;
  if (insn.byte >= src.bytes)
    return core.fault(FaultKind::IllegalShape,
                      "byte " + std::to_string(insn.byte) + " of elements of " + std::to_string(src.bytes) + " bytes");
  uint32_t higher = src.bytes - 1 - insn.byte; // higher bytes, which must match the filter
  if (dst.validCols < 256 || dst.validRows < src.validRows ||
      (higher > 0 && (filter.validRows < (src.bytes == 2 ? src.validRows : higher) || filter.validCols < 1)))
    return core.fault(FaultKind::IllegalShape,
                      "dst has no 256 columns for each row of src, or the filter too few rows");
  auto filterAt = [&](uint32_t r) { return filter.data[r * rowStep(filter)]; };
  for (uint32_t r = 0; r < src.validRows; ++r) {
    uint32_t counts[256] = {};
    for (uint32_t c = 0; c < src.validCols; ++c) {
      auto value = uint32_t(getWide<uint64_t>(src, r, c));
      bool counted = true;
      for (uint32_t i = 0; i < higher; ++i)
        counted &= uint8_t(value >> 8 * (src.bytes - 1 - i)) == filterAt(src.bytes == 2 ? r : i);
      counts[value >> 8 * insn.byte & 255] += counted;
    }
    uint32_t sum = 0;
    for (uint32_t b = 0; b < 256; ++b)
      dst.row<uint32_t>(r)[b] = sum += counts[b];
  }
}

} // namespace pto_mlir::cmodel
