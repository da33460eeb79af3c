#include "pto_mlir/Support/Float8.h"

#include <cmath>

namespace pto_mlir {
namespace {

// Rounds |value| to a float with `mantissaBits` bits after the point and least normal exponent `minExponent`, and
// returns its code without sign; codes count upwards with the values, so a carry out of the mantissa is the next
// exponent.
uint32_t encodeMagnitude(float magnitude, int mantissaBits, int minExponent) {
  if (magnitude == 0.0f)
    return 0;
  int exponent = std::ilogb(magnitude);
  if (exponent < minExponent)
    exponent = minExponent;
  // Units of the last place; nearbyint ties to even in the default rounding mode.
  auto units = uint32_t(std::nearbyint(std::ldexp(magnitude, mantissaBits - exponent)));
  return units + (uint32_t(exponent - minExponent) << mantissaBits);
}

float decodeMagnitude(uint32_t code, int mantissaBits, int minExponent) {
  uint32_t mantissa = code & ((1u << mantissaBits) - 1);
  int biased = int(code >> mantissaBits);
  if (biased == 0)
    return std::ldexp(float(mantissa), minExponent - mantissaBits);
  return std::ldexp(float(mantissa + (1u << mantissaBits)), minExponent + biased - 1 - mantissaBits);
}

} // namespace

float float8E4M3FNToFloat(uint8_t value) {
  float magnitude = (value & 0x7f) == 0x7f ? NAN : decodeMagnitude(value & 0x7f, 3, -6);
  return std::copysign(magnitude, value & 0x80 ? -1.0f : 1.0f);
}

uint8_t floatToFloat8E4M3FN(float value) {
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value))
    return sign | 0x7f;
  float magnitude = std::fabs(value);
  return sign | uint8_t(magnitude >= 448.0f ? 0x7e : encodeMagnitude(magnitude, 3, -6));
}

float float8E5M2ToFloat(uint8_t value) {
  uint32_t code = value & 0x7f;
  float magnitude = code == 0x7c ? INFINITY : code > 0x7c ? NAN : decodeMagnitude(code, 2, -14);
  return std::copysign(magnitude, value & 0x80 ? -1.0f : 1.0f);
}

uint8_t floatToFloat8E5M2(float value) {
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value))
    return sign | 0x7e;
  float magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return sign | 0x7c;
  return sign | uint8_t(magnitude >= 57344.0f ? 0x7b : encodeMagnitude(magnitude, 2, -14));
}

} // namespace pto_mlir
