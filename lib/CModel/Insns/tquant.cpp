#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

// The multiplier of a row is the reciprocal of its scale; rows beyond the last multiplier use the last one.
void execute(const isa::TQuant &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB),
            multipliers = core.tile(insn.multipliers, isa::Memory::UB);
  if (core.faulted())
    return;
  if (!src.covers(dst) || (dst.validRows > 0 && multipliers.validRows == 0))
    return core.fault(FaultKind::IllegalShape, "src or the multipliers are smaller than dst's valid region");
  bool toSigned = dst.type == isa::ElementType::i8;
  float low = toSigned ? -128.0f : 0.0f, high = toSigned ? 127.0f : 255.0f;
  auto zeroPoint = float(insn.zeroPoint.value);
  for (uint32_t r = 0; r < dst.validRows; ++r) {
    float multiplier = multipliers.as<float>()[std::min(r, multipliers.validRows - 1) * rowStep(multipliers)];
    const float *from = src.row<float>(r);
    int8_t *to = dst.row<int8_t>(r); // i8 and u8 have the same bits
    forBlocks(dst.validCols, [=](size_t c) {
      float value = std::nearbyint(from[c] * multiplier + zeroPoint);
      to[c] = int8_t(int32_t(value > high ? high : value > low ? value : low));
    });
  }
}

} // namespace pto_mlir::cmodel
