// The 8-bit floats E4M3FN and E5M2 (OCP OFP8) <-> binary32.
#ifndef PTO_MLIR_SUPPORT_FLOAT8_H
#define PTO_MLIR_SUPPORT_FLOAT8_H

#include <cstdint>

namespace pto_mlir {

/// E4M3FN: 4 exponent bits (bias 7), 3 mantissa bits, no infinity, NaN = S.1111.111, largest finite 448.
float float8E4M3FNToFloat(uint8_t value);
/// Rounds to nearest even; values beyond 448 saturate (infinities too), NaN stays NaN.
uint8_t floatToFloat8E4M3FN(float value);

/// E5M2: 5 exponent bits (bias 15), 2 mantissa bits, infinities and NaNs as in IEEE, largest finite 57344.
float float8E5M2ToFloat(uint8_t value);
/// Rounds to nearest even; finite values beyond 57344 saturate, infinities and NaNs are preserved.
uint8_t floatToFloat8E5M2(float value);

} // namespace pto_mlir

#endif
