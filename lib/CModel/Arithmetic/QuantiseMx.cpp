#include "Arithmetic/QuantiseMx.h"
#include "pto_mlir/Support/MathExtras.h"

#include "Arithmetic/SmallFloat.h"
#include "Tiles/Map.h"

#include <limits>

namespace pto_mlir::cmodel {
namespace {

constexpr uint32_t mxGroup = 32;

// The shared exponent of a group (biased by 127), computed from the bits of its largest magnitude and therefore exact.
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

void quantiseMx(Core &core, const LocalTile &dst, const MxScales &scales, const LocalTile &src, isa::ScaleRule rule) {
  bool down = src.is(isa::Layout::DN), toFour = dst.bytes == 0, nv = rule == isa::ScaleRule::nv;
  uint32_t lines = down ? dst.validCols : dst.validRows, length = down ? dst.validRows : dst.validCols;
  uint32_t groups = ceilDiv(length, mxGroup);
  auto holds = [&](const LocalTile &t) {
    return (down ? t.validCols : t.validRows) >= lines && (down ? t.validRows : t.validCols) >= groups;
  };
  if (!src.covers(dst) || !holds(scales.exponents) || !holds(scales.most) || !holds(scales.scaling) ||
      (scales.boxed && !holds(*scales.boxed)))
    return core.fault(FaultKind::IllegalShape, "src or a tile of the groups is smaller than dst's valid region needs");
  auto at = [&](const LocalTile &t, uint32_t line, uint32_t place) {
    return down ? t.offset(place, line) : t.offset(line, place);
  };
  bool legal = Types<float, Half, BFloat>::visit(src.type, [&]<class T>() {
    for (uint32_t line = 0; line < lines; ++line)
      for (uint32_t g = 0; g < groups; ++g) {
        uint32_t begin = g * mxGroup, n = std::min(mxGroup, length - begin);
        float values[mxGroup], most = 0;
        for (uint32_t i = 0; i < n; ++i) {
          values[i] = load(src.as<T>()[at(src, line, begin + i)]);
          float magnitude = std::fabs(values[i]);
          if (toFour && !nv)
            magnitude = std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) & 0xffff0000u);
          most = most != most || magnitude <= most ? most : magnitude; // NaN is kept
        }
        uint8_t exponent = scaleExponent(most, nv, toFour);
        float scale = exponent == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, 127 - int(exponent));
        scales.exponents.as<uint8_t>()[at(scales.exponents, line, g)] = exponent;
        if (scales.boxed)
          scales.boxed->as<uint8_t>()[at(*scales.boxed, line, g)] = exponent;
        scales.most.as<float>()[at(scales.most, line, g)] = most;
        scales.scaling.as<float>()[at(scales.scaling, line, g)] = scale;
        for (uint32_t i = 0; i < n; ++i)
          putSmall(dst, at(dst, line, begin + i), encodeSmall(dst.type, double(values[i] * scale), true));
      }
  });
  if (!legal)
    illegalType(core, src.type);
}

} // namespace pto_mlir::cmodel
