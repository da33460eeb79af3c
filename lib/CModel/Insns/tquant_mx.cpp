#include "Insns.h"
#include "Map.h"
#include "SmallFloat.h"

namespace pto_mlir::cmodel {

namespace {

// The exponent of a group's scale (biased by 127) from its greatest magnitude, from the bits of f32: exact.
uint8_t scaleExponent(float most, bool nv, bool toFour) {
  if (most != most)
    return 255;
  if (nv) {
    auto bits = std::bit_cast<uint32_t>(most / (toFour ? 6.0f : 448.0f));
    uint32_t exponent = (bits >> 23 & 255) + ((bits & 0x7fffff) != 0);
    return uint8_t(std::min(exponent, 254u));
  }
  int exponent = int(std::bit_cast<uint32_t>(most) >> 23 & 255) - (toFour ? 2 : 8);
  return uint8_t(std::max(exponent, 0));
}

} // namespace

void execute(const isa::TQuantMx &insn, Core &core) {
  auto ub = [&](const isa::Tile &t) { return core.tile(t, isa::Memory::UB); };
  LocalTile dst = ub(insn.dst), exponents = ub(insn.exponents), src = ub(insn.src);
  if (core.faulted())
    return;
  constexpr uint32_t group = 32;
  uint32_t groups = (dst.validCols + group - 1) / group;
  if (src.validRows < dst.validRows || src.validCols < dst.validCols || exponents.validRows < dst.validRows || exponents.validCols < groups)
    return core.fault(FaultKind::IllegalShape, "src or exponents is smaller than dst's valid region needs");
  bool toFour = dst.bytes == 0, nv = insn.rule == isa::ScaleRule::nv;
  Types<float, Half, BFloat>::visit(src.type, [&]<class T>() {
    for (uint32_t r = 0; r < dst.validRows; ++r)
      for (uint32_t g = 0; g < groups; ++g) {
        uint32_t begin = g * group, end = std::min(begin + group, dst.validCols);
        float most = 0;
        for (uint32_t c = begin; c < end; ++c) {
          float magnitude = std::fabs(load(src.row<T>(r)[c]));
          if (toFour && !nv)
            magnitude = std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) & 0xffff0000u);
          most = most != most || magnitude <= most ? most : magnitude; // a NaN stays
        }
        uint8_t exponent = scaleExponent(most, nv, toFour);
        exponents.row<uint8_t>(r)[g] = exponent;
        double scale = std::ldexp(1.0, 127 - int(exponent));
        for (uint32_t c = begin; c < end; ++c)
          putSmall(dst, dst.offset(r, c), encodeSmall(dst.type, double(float(double(load(src.row<T>(r)[c])) * scale)), true));
      }
  });
}

} // namespace pto_mlir::cmodel
