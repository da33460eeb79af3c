//===- FloatScalar.h - Semantics of scalar float instructions -----*- C++ -*-===//
//
// The single definition of farith, fcmp and fcvt, shared like Scalar.h. A float is stored as f32 bits in the low 32
// bits of its register.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_ISA_FLOATSCALAR_H
#define PTO_MLIR_ISA_FLOATSCALAR_H

#include "pto_mlir/ISA/Operands.h"
#include "pto_mlir/Support/BFloat16.h"
#include "pto_mlir/Support/Float16.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace pto_mlir::isa {

/// Conversion between a register and the f32 in its low 32 bits; wordOf sign-extends.
inline float floatOf(int64_t word) { return ::pto_mlir::detail::floatOf(uint32_t(word)); }
inline int64_t wordOf(float value) { return int32_t(::pto_mlir::detail::bitsOf(value)); }

/// The result of `farith`, as f32 bits.
inline int64_t evaluateFloat(FloatOp op, int64_t lhs, int64_t rhs) {
  float a = floatOf(lhs), b = floatOf(rhs);
  bool unordered = a != a || b != b;
  // -0 and +0 compare equal; the sign bit orders them.
  bool less = a < b || (a == b && std::signbit(a));
  switch (op) {
  case FloatOp::add:
    return wordOf(a + b);
  case FloatOp::sub:
    return wordOf(a - b);
  case FloatOp::mul:
    return wordOf(a * b);
  case FloatOp::div:
    return wordOf(a / b);
  case FloatOp::rem:
    return wordOf(std::fmod(a, b));
  case FloatOp::maximum:
    return wordOf(unordered ? std::numeric_limits<float>::quiet_NaN() : less ? b : a);
  case FloatOp::minimum:
    return wordOf(unordered ? std::numeric_limits<float>::quiet_NaN() : less ? a : b);
  case FloatOp::maxnum:
    return wordOf(a != a ? b : b != b ? a : less ? b : a);
  case FloatOp::minnum:
    return wordOf(a != a ? b : b != b ? a : less ? a : b);
  }
  return 0;
}

/// The result of `fcmp`.
inline bool compareFloats(FloatCompare mode, int64_t lhs, int64_t rhs) {
  float a = floatOf(lhs), b = floatOf(rhs);
  bool unordered = a != a || b != b;
  switch (mode) {
  case FloatCompare::never:
    return false;
  case FloatCompare::oeq:
    return a == b;
  case FloatCompare::ogt:
    return a > b;
  case FloatCompare::oge:
    return a >= b;
  case FloatCompare::olt:
    return a < b;
  case FloatCompare::ole:
    return a <= b;
  case FloatCompare::one:
    return a < b || a > b;
  case FloatCompare::ord:
    return !unordered;
  case FloatCompare::ueq:
    return unordered || a == b;
  case FloatCompare::ugt:
    return unordered || a > b;
  case FloatCompare::uge:
    return unordered || a >= b;
  case FloatCompare::ult:
    return unordered || a < b;
  case FloatCompare::ule:
    return unordered || a <= b;
  case FloatCompare::une:
    return unordered || a != b;
  case FloatCompare::uno:
    return unordered;
  case FloatCompare::always:
    return true;
  }
  return false;
}

/// The result of `fcvt`: f32 bits, or a 64-bit integer.
inline int64_t castScalar(ScalarCast cast, int64_t src) {
  float value = floatOf(src);
  constexpr float kTwo63 = 0x1p63f;
  switch (cast) {
  case ScalarCast::from_signed:
    return wordOf(float(src));
  case ScalarCast::from_unsigned:
    return wordOf(float(uint64_t(src)));
  case ScalarCast::to_signed:
    if (value != value)
      return 0;
    return value >= kTwo63   ? std::numeric_limits<int64_t>::max()
           : value < -kTwo63 ? std::numeric_limits<int64_t>::min()
                             : int64_t(value);
  case ScalarCast::to_unsigned:
    if (!(value > 0.0f))
      return 0;
    return value >= 2.0f * kTwo63 ? -1 : int64_t(uint64_t(value));
  case ScalarCast::round_f16:
    return wordOf(halfToFloat(floatToHalf(value)));
  case ScalarCast::round_bf16:
    return wordOf(bfloat16ToFloat(floatToBFloat16(value)));
  }
  return 0;
}

} // namespace pto_mlir::isa

#endif
