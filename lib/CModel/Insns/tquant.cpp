#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

// The multiplier of a row is the inverse of its scale; rows behind the last multiplier use that one.
void execute(const isa::TQuant &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB), multipliers = core.tile(insn.multipliers, isa::Memory::UB);
  if (core.faulted())
    return;
  if (src.validRows < dst.validRows || src.validCols < dst.validCols || (dst.validRows > 0 && multipliers.validRows == 0))
    return core.fault(FaultKind::IllegalShape, "src or the multipliers are smaller than dst's valid region");
  bool toSigned = dst.type == isa::ElementType::i8;
  float low = toSigned ? -128.0f : 0.0f, high = toSigned ? 127.0f : 255.0f;
  for (uint32_t r = 0; r < dst.validRows; ++r) {
    float multiplier = multipliers.as<float>()[std::min(r, multipliers.validRows - 1) * rowStep(multipliers)];
    for (uint32_t c = 0; c < dst.validCols; ++c) {
      float value = std::nearbyint(src.row<float>(r)[c] * multiplier + float(insn.zeroPoint.value));
      value = value > high ? high : value > low ? value : low;
      if (toSigned)
        dst.row<int8_t>(r)[c] = int8_t(value);
      else
        dst.row<uint8_t>(r)[c] = uint8_t(value);
    }
  }
}

} // namespace pto_mlir::cmodel
