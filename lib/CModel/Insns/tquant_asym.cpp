#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TQuantAsym &insn, Core &core) {
  auto ub = [&](const isa::Tile &t) { return core.tile(t, isa::Memory::UB); };
  LocalTile dst = ub(insn.dst), src = ub(insn.src), multipliers = ub(insn.multipliers), offsets = ub(insn.offsets);
  if (core.faulted())
    return;
  if (!src.covers(dst) || (dst.validRows > 0 && std::min(multipliers.validRows, offsets.validRows) == 0))
    return core.fault(FaultKind::IllegalShape,
                      "src, the multipliers or the offsets are smaller than dst's valid region");
  for (uint32_t r = 0; r < dst.validRows; ++r) {
    auto ofRow = [&](const LocalTile &t) { return t.as<float>()[std::min(r, t.validRows - 1) * rowStep(t)]; };
    float multiplier = ofRow(multipliers), offset = ofRow(offsets);
    for (uint32_t c = 0; c < dst.validCols; ++c) {
      float value = std::nearbyint(src.row<float>(r)[c] * multiplier + offset);
      dst.row<uint8_t>(r)[c] = uint8_t(value > 255 ? 255 : value > 0 ? value : 0);
    }
  }
}

} // namespace pto_mlir::cmodel
