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

// Codes of a format, without sign: the largest finite number, what exceeds it, NaN.
struct Codes {
  uint8_t most, beyond, nan;
};

uint8_t castTo(float value, bool saturates, int mantissaBits, int minExponent, Codes codes, bool isFnuz) {
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value))
    return isFnuz ? 0x80 : sign | codes.nan;
  float magnitude = std::fabs(value);
  uint32_t code = std::isinf(magnitude) ? UINT32_MAX : encodeMagnitude(magnitude, mantissaBits, minExponent);
  if (code > codes.most && !saturates)
    return isFnuz ? 0x80 : sign | codes.beyond;
  code = code > codes.most ? codes.most : code;
  return isFnuz && code == 0 ? 0 : sign | uint8_t(code);
}

float fnuzToFloat(uint8_t value, int mantissaBits, int minExponent) {
  return value == 0x80
             ? NAN
             : std::copysign(decodeMagnitude(value & 0x7f, mantissaBits, minExponent), value & 0x80 ? -1.0f : 1.0f);
}

} // namespace

float float8E4M3FNUZToFloat(uint8_t value) { return fnuzToFloat(value, 3, -7); }
float float8E5M2FNUZToFloat(uint8_t value) { return fnuzToFloat(value, 2, -15); }

uint8_t castToFloat8E4M3FN(float value, bool saturates) {
  return castTo(value, saturates, 3, -6, {0x7e, 0x7f, 0x7f}, false);
}
uint8_t castToFloat8E5M2(float value, bool saturates) {
  return castTo(value, saturates, 2, -14, {0x7b, 0x7c, 0x7e}, false);
}
uint8_t castToFloat8E4M3FNUZ(float value, bool saturates) {
  return castTo(value, saturates, 3, -7, {0x7f, 0x80, 0x80}, true);
}
uint8_t castToFloat8E5M2FNUZ(float value, bool saturates) {
  return castTo(value, saturates, 2, -15, {0x7f, 0x80, 0x80}, true);
}

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

float float4E2M1ToFloat(uint8_t value) {
  return std::copysign(decodeMagnitude(value & 7, 1, 0), value & 8 ? -1.0f : 1.0f);
}

uint8_t castToFloat4E2M1(float value) {
  if (std::isnan(value))
    return 8;
  uint8_t code = castTo(value, true, 1, 0, {7, 7, 7}, false);
  return uint8_t((code & 0x80 ? 8 : 0) | (code & 7));
}

float float8E4M3FNToFloat(uint8_t value) {
  float magnitude = (value & 0x7f) == 0x7f ? NAN : decodeMagnitude(value & 0x7f, 3, -6);
  return std::copysign(magnitude, value & 0x80 ? -1.0f : 1.0f);
}

float float8E5M2ToFloat(uint8_t value) {
  uint32_t code = value & 0x7f;
  float magnitude = code == 0x7c ? INFINITY : code > 0x7c ? NAN : decodeMagnitude(code, 2, -14);
  return std::copysign(magnitude, value & 0x80 ? -1.0f : 1.0f);
}

} // namespace pto_mlir
