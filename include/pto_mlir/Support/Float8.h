// The 8-bit floats E4M3FN and E5M2 (OCP OFP8), their FNUZ variants, and E8M0 and the 4-bit E2M1 (OCP MX) <-> binary32.
#ifndef PTO_MLIR_SUPPORT_FLOAT8_H
#define PTO_MLIR_SUPPORT_FLOAT8_H

#include <cstdint>

namespace pto_mlir {

/// A sign, an exponent and a mantissa in at most 8 bits. Codes without sign count upwards with the values.
struct SmallFloat {
  int bits, mantissaBits;
  int minExponent;           ///< of the least normal number
  uint8_t most, beyond, nan; ///< codes without sign: the largest finite number, what exceeds it (none: `nan`), NaN
  bool isUnsignedZero;       ///< FNUZ: neither -0 nor infinities; NaN is the code of -0

  int signBit() const { return 1 << (bits - 1); }
};
inline constexpr SmallFloat kFloat8E4M3FN{8, 3, -6, 0x7e, 0x7f, 0x7f, false};
inline constexpr SmallFloat kFloat8E5M2{8, 2, -14, 0x7b, 0x7c, 0x7e, false};
inline constexpr SmallFloat kFloat8E4M3FNUZ{8, 3, -7, 0x7f, 0x80, 0x80, true};
inline constexpr SmallFloat kFloat8E5M2FNUZ{8, 2, -15, 0x7f, 0x80, 0x80, true};
/// Has no NaN: ONNX leaves open what NaN becomes, ml_dtypes has -0.
inline constexpr SmallFloat kFloat4E2M1{4, 1, 0, 7, 7, 8, false};

/// E4M3FN: 4 exponent bits (bias 7), 3 mantissa bits, no infinity, NaN = S.1111.111, largest finite 448.
float float8E4M3FNToFloat(uint8_t value);

/// E5M2: 5 exponent bits (bias 15), 2 mantissa bits, infinities and NaNs as in IEEE, largest finite 57344.
float float8E5M2ToFloat(uint8_t value);

/// FNUZ: one greater bias, no infinities, no -0; NaN is the code of -0 (0x80). Largest finite 240 and 57344.
float float8E4M3FNUZToFloat(uint8_t value);
float float8E5M2FNUZToFloat(uint8_t value);

/// E8M0: 2^(code - 127); 255 is NaN.
float float8E8M0ToFloat(uint8_t value);

/// E2M1, in the low 4 bits: 2 exponent bits (bias 1), 1 mantissa bit, neither infinity nor NaN, largest 6.
float float4E2M1ToFloat(uint8_t value);

/// ONNX's Cast. Rounds to nearest even; what is beyond the largest finite number, infinities too, becomes that number
/// or, if it does not saturate, infinity where the format has one, else NaN.
uint8_t castToFloat8E4M3FN(float value, bool saturates);
uint8_t castToFloat8E5M2(float value, bool saturates);
uint8_t castToFloat8E4M3FNUZ(float value, bool saturates);
uint8_t castToFloat8E5M2FNUZ(float value, bool saturates);

/// Away from zero, toward it, to the nearest with ties upwards.
enum class ScaleRounding { Up, Down, Nearest };
/// ONNX's Cast: what is beyond the greatest power, infinity too, becomes it, what is below the least one, 0 too, the
/// least; both NaN if it does not saturate. NaN and negative numbers (which ONNX leaves open) give NaN.
uint8_t castToFloat8E8M0(float value, bool saturates, ScaleRounding rounding);

/// Rounds to nearest even and saturates; NaN gives -0, as ml_dtypes has it (ONNX leaves it open).
uint8_t castToFloat4E2M1(float value);

} // namespace pto_mlir

#endif
