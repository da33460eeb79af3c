#include "Arithmetic/SmallFloat.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace pto_mlir::cmodel {
namespace {

using isa::ElementType;
constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

// A magnitude of `exponentBits` and `mantissaBits` as in IEEE 754, without infinities and NaN.
float ieeeLike(unsigned code, int exponentBits, int mantissaBits, int bias) {
  int mantissa = int(code & ((1u << mantissaBits) - 1)),
      exponent = int(code >> mantissaBits & ((1u << exponentBits) - 1));
  if (exponent == 0)
    return std::ldexp(float(mantissa), 1 - bias - mantissaBits);
  return std::ldexp(float(mantissa + (1 << mantissaBits)), exponent - bias - mantissaBits);
}

// HiFloat8 (Ascend): a prefix after the sign gives the number of exponent bits; the exponent is a sign and a magnitude
// with a hidden leading one.
float hif8Magnitude(unsigned code) {
  if (code < 8) // 0000 mmm: denormals, powers of two below the normal range
    return code == 0 ? 0.0f : std::ldexp(1.0f, int(code) - 23);
  int exponentBits = code >> 5 ? int(code >> 5) + 1 : int(code >> 4); // 11: 4, 10: 3, 01: 2, 001: 1, 0001: 0
  int mantissaBits = exponentBits < 2 ? 3 : 5 - exponentBits;
  unsigned field = code & ((1u << (exponentBits + mantissaBits)) - 1), raw = field >> mantissaBits;
  int exponent = 0;
  if (exponentBits > 0) {
    unsigned top = 1u << (exponentBits - 1);
    exponent = int(raw | top);
    if (raw & top)
      exponent = -exponent;
  }
  unsigned mantissa = field & ((1u << mantissaBits) - 1);
  if (exponent == 15 && mantissa == 1)
    return inf;
  return std::ldexp(1.0f + std::ldexp(float(mantissa), -mantissaBits), exponent);
}

float valueOf(ElementType type, unsigned code) {
  switch (type) {
  case ElementType::f8E8M0:
    return code == 255 ? nan : std::ldexp(1.0f, int(code) - 127);
  case ElementType::i4:
    return float(int(code & 7) - int(code & 8));
  case ElementType::f4E2M1:
  case ElementType::f4E1M2: {
    float v = type == ElementType::f4E2M1 ? ieeeLike(code & 7, 2, 1, 1) : ieeeLike(code & 7, 1, 2, 1);
    return code & 8 ? -v : v;
  }
  default:
    break;
  }
  unsigned magnitude = code & 127;
  float v;
  if (type == ElementType::f8E4M3FN)
    v = magnitude == 127 ? nan : ieeeLike(magnitude, 4, 3, 7);
  else if (type == ElementType::f8E5M2)
    v = magnitude == 124 ? inf : magnitude > 124 ? nan : ieeeLike(magnitude, 5, 2, 15);
  else
    v = code == 128 ? nan : hif8Magnitude(magnitude);
  return code & 128 ? -v : v;
}

struct Table {
  std::array<float, 256> values;
  // Finite magnitudes in ascending order, with their codes without the sign bit.
  std::vector<std::pair<float, uint8_t>> magnitudes;
  unsigned signBit;
  int nanCode, infCode; // -1: the type has none

  explicit Table(ElementType type) {
    bool four = isa::elementBits(type) == 4;
    signBit = type == ElementType::f8E8M0 ? 0 : four ? 8 : 128;
    for (unsigned code = 0; code < 256; ++code)
      values[code] = valueOf(type, code);
    for (unsigned code = 0; code < (signBit ? signBit : 256); ++code)
      if (std::isfinite(values[code]))
        magnitudes.push_back({values[code], uint8_t(code)});
    std::sort(magnitudes.begin(), magnitudes.end());
    nanCode = type == ElementType::f8E4M3FN ? 0x7f
              : type == ElementType::f8E5M2 ? 0x7e
              : type == ElementType::hif8   ? 0x80
              : type == ElementType::f8E8M0 ? 0xff
                                            : -1;
    infCode = type == ElementType::f8E4M3FN ? 0x7f
              : type == ElementType::f8E5M2 ? 0x7c
              : type == ElementType::hif8   ? 0x6f
                                            : -1;
  }
};

const Table &tableOf(ElementType type) {
  static const Table tables[] = {Table(ElementType::f8E4M3FN), Table(ElementType::f8E5M2), Table(ElementType::hif8),
                                 Table(ElementType::f4E2M1),   Table(ElementType::f4E1M2), Table(ElementType::i4),
                                 Table(ElementType::f8E8M0)};
  static_assert(unsigned(ElementType::i4) - unsigned(ElementType::f8E4M3FN) == 5 &&
                unsigned(ElementType::f8E8M0) == 18);
  return type == ElementType::f8E8M0 ? tables[6] : tables[unsigned(type) - unsigned(ElementType::f8E4M3FN)];
}

} // namespace

bool isSmall(ElementType type) {
  return (type >= ElementType::f8E4M3FN && type <= ElementType::i4) || type == ElementType::f8E8M0;
}

const float *smallFloatValues(ElementType type) { return tableOf(type).values.data(); }

uint8_t encodeSmall(ElementType type, double value, bool saturate) {
  if (type == ElementType::i4)
    return uint8_t(int(std::clamp(std::nearbyint(value != value ? 7.0 : value), -8.0, 7.0)) & 15);
  const Table &t = tableOf(type);
  unsigned sign = std::signbit(value) ? t.signBit : 0;
  const auto &m = t.magnitudes;
  if (value != value)
    return uint8_t(t.nanCode < 0               ? sign | m.back().second
                   : type == ElementType::hif8 ? 0x80u
                                               : sign | unsigned(t.nanCode));
  double magnitude = std::fabs(value);
  bool awayFromZero = type == ElementType::hif8;
  // Round between the largest magnitude not above the value and its successor. The largest finite number has no
  // successor: its spacing is extrapolated.
  size_t below = size_t(
      std::upper_bound(m.begin(), m.end(), magnitude, [](double v, const auto &e) { return v < double(e.first); }) -
      m.begin());
  size_t at = below == 0 ? 0 : below - 1;
  double low = m[at].first, high = at + 1 < m.size() ? double(m[at + 1].first) : 2 * low - m[at - 1].first;
  if (type == ElementType::hif8 && at + 1 == m.size())
    high = 1.5 * low; // the threshold of infinity
  double middle = (low + high) / 2;
  bool up = magnitude > middle || (magnitude == middle && (awayFromZero || (m[at].second & 1)));
  if (up && at + 1 == m.size()) {
    if (!saturate && t.infCode >= 0)
      return uint8_t(sign | unsigned(t.infCode));
    up = false;
  }
  unsigned code = m[at + up].second;
  if (code == 0 && type == ElementType::hif8)
    sign = 0; // -0 is the code of NaN
  return uint8_t(sign | code);
}

float smallAt(const LocalTile &t, size_t at) {
  const float *values = smallFloatValues(t.type);
  return t.bytes ? values[t.data[at]] : values[t.data[at / 2] >> (at % 2 * 4) & 15];
}

void putSmall(const LocalTile &t, size_t at, uint8_t code) {
  if (t.bytes)
    t.data[at] = code;
  else
    t.data[at / 2] = uint8_t(at % 2 ? (t.data[at / 2] & 15) | code << 4 : (t.data[at / 2] & 0xf0) | (code & 15));
}

} // namespace pto_mlir::cmodel
