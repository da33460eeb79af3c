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

uint8_t castTo(const SmallFloat &format, float value, bool saturates) {
  auto sign = uint8_t(std::signbit(value) ? format.signBit() : 0);
  if (std::isnan(value))
    return format.isUnsignedZero ? format.nan : sign | format.nan;
  float magnitude = std::fabs(value);
  uint32_t code =
      std::isinf(magnitude) ? UINT32_MAX : encodeMagnitude(magnitude, format.mantissaBits, format.minExponent);
  if (code > format.most && !saturates)
    return format.isUnsignedZero ? format.nan : sign | format.beyond;
  code = code > format.most ? format.most : code;
  return format.isUnsignedZero && code == 0 ? 0 : sign | uint8_t(code);
}

// Of a finite number's code.
float finiteToFloat(const SmallFloat &format, uint8_t value) {
  float magnitude = decodeMagnitude(value & (format.signBit() - 1), format.mantissaBits, format.minExponent);
  return std::copysign(magnitude, value & format.signBit() ? -1.0f : 1.0f);
}

float fnuzToFloat(const SmallFloat &format, uint8_t value) {
  return value == format.nan ? NAN : finiteToFloat(format, value);
}

} // namespace

float float8E4M3FNUZToFloat(uint8_t value) { return fnuzToFloat(kFloat8E4M3FNUZ, value); }
float float8E5M2FNUZToFloat(uint8_t value) { return fnuzToFloat(kFloat8E5M2FNUZ, value); }

uint8_t castToFloat8E4M3FN(float value, bool saturates) { return castTo(kFloat8E4M3FN, value, saturates); }
uint8_t castToFloat8E5M2(float value, bool saturates) { return castTo(kFloat8E5M2, value, saturates); }
uint8_t castToFloat8E4M3FNUZ(float value, bool saturates) { return castTo(kFloat8E4M3FNUZ, value, saturates); }
uint8_t castToFloat8E5M2FNUZ(float value, bool saturates) { return castTo(kFloat8E5M2FNUZ, value, saturates); }

float float8E8M0ToFloat(uint8_t value) { return value == 0xff ? NAN : std::ldexp(1.0f, int(value) - 127); }

uint8_t castToFloat8E8M0(float value, bool saturates, ScaleRounding rounding) {
  constexpr int least = -127, most = 127;
  if (std::isnan(value) || value < 0)
    return 0xff;
  if (std::isinf(value))
    return saturates ? 0xfe : 0xff;
  if (value < std::ldexp(1.0f, least))
    return saturates ? 0 : 0xff;
  int exponent = std::ilogb(value);
  float mantissa = std::ldexp(value, -exponent); // 1 <= mantissa < 2
  if ((rounding == ScaleRounding::Up && mantissa > 1) || (rounding == ScaleRounding::Nearest && mantissa >= 1.5f))
    ++exponent;
  if (exponent > most)
    return saturates ? 0xfe : 0xff;
  return uint8_t(exponent - least);
}

float float4E2M1ToFloat(uint8_t value) { return finiteToFloat(kFloat4E2M1, value & 0xf); }

uint8_t castToFloat4E2M1(float value) { return castTo(kFloat4E2M1, value, true); }

float float8E4M3FNToFloat(uint8_t value) {
  float finite = finiteToFloat(kFloat8E4M3FN, value);
  return (value & 0x7f) > kFloat8E4M3FN.most ? std::copysign(NAN, finite) : finite;
}

float float8E5M2ToFloat(uint8_t value) {
  float finite = finiteToFloat(kFloat8E5M2, value);
  uint8_t code = value & 0x7f;
  return code <= kFloat8E5M2.most ? finite : std::copysign(code == kFloat8E5M2.beyond ? INFINITY : NAN, finite);
}

} // namespace pto_mlir
