// Semantics of the arithmetic instructions.
#ifndef PTO_MLIR_LIB_BYTECODE_ARITHMETIC_H
#define PTO_MLIR_LIB_BYTECODE_ARITHMETIC_H

#include "pto_mlir/ByteCode/Program.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

namespace pto_mlir::bytecode {

/// The value modulo 2^width, sign-extended; i1 is 0 or 1.
inline int64_t wrap(int64_t value, unsigned width) {
  if (width == 1)
    return value & 1;
  unsigned shift = 64 - width;
  return int64_t(uint64_t(value) << shift) >> shift;
}
inline uint64_t asUnsigned(int64_t value, unsigned width) {
  return width == 64 ? uint64_t(value) : uint64_t(value) & ((uint64_t(1) << width) - 1);
}
inline double roundTo(double value, unsigned width) { return width == 32 ? double(float(value)) : value; }

// INT64_MIN / -1 wraps, as all integer arithmetic.
inline int64_t divide(int64_t x, int64_t y) { return y == -1 ? int64_t(0 - uint64_t(x)) : x / y; }
inline int64_t floorDivide(int64_t x, int64_t y) {
  int64_t quotient = divide(x, y);
  return y != -1 && x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}
inline int64_t ceilDivide(int64_t x, int64_t y) {
  int64_t quotient = divide(x, y);
  return y != -1 && x % y != 0 && (x < 0) == (y < 0) ? quotient + 1 : quotient;
}
// A shift by the width or more gives 0, or all sign bits (ishr).
inline int64_t shiftLeft(int64_t x, uint64_t count, unsigned width) {
  return count >= width ? 0 : int64_t(uint64_t(x) << count);
}
inline int64_t shiftRight(int64_t x, uint64_t count, unsigned width) { return x >> (count >= width ? 63 : count); }
inline int64_t shiftRightUnsigned(int64_t x, uint64_t count, unsigned width) {
  return count >= width ? 0 : int64_t(asUnsigned(x, width) >> count);
}

inline bool compareIntegers(int64_t predicate, int64_t x, int64_t y, unsigned width) {
  uint64_t ux = asUnsigned(x, width), uy = asUnsigned(y, width);
  switch (predicate) {
  case 0:
    return x == y;
  case 1:
    return x != y;
  case 2:
    return width == 1 ? ux > uy : x < y; // i1 as signed: 1 is -1
  case 3:
    return width == 1 ? ux >= uy : x <= y;
  case 4:
    return width == 1 ? ux < uy : x > y;
  case 5:
    return width == 1 ? ux <= uy : x >= y;
  case 6:
    return ux < uy;
  case 7:
    return ux <= uy;
  case 8:
    return ux > uy;
  default:
    return ux >= uy;
  }
}

/// arith.cmpf's predicates: bits say which of greater, less, equal hold for 1..7; 8..14 also hold for unordered
/// operands.
inline bool compareFloats(int64_t predicate, double x, double y) {
  bool unordered = std::isnan(x) || std::isnan(y);
  switch (predicate) {
  case 0:
    return false;
  case 1:
    return x == y;
  case 2:
    return x > y;
  case 3:
    return x >= y;
  case 4:
    return x < y;
  case 5:
    return x <= y;
  case 6:
    return !unordered && x != y;
  case 7:
    return !unordered;
  case 8:
    return unordered || x == y;
  case 9:
    return unordered || x > y;
  case 10:
    return unordered || x >= y;
  case 11:
    return unordered || x < y;
  case 12:
    return unordered || x <= y;
  case 13:
    return x != y;
  case 14:
    return unordered;
  default:
    return true;
  }
}

/// arith.minimumf and maximumf: a NaN operand gives NaN, -0 is less than +0.
inline double minimum(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<double>::quiet_NaN();
  return x < y || (x == y && std::signbit(x)) ? x : y;
}
inline double maximum(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<double>::quiet_NaN();
  return x > y || (x == y && !std::signbit(x)) ? x : y;
}

/// conv and convu; nullopt when a float is out of the range of the integer type.
inline std::optional<int64_t> convert(const Step &step, int64_t bits) {
  bool isUnsigned = step.opcode == Opcode::ConvU;
  if (step.kind == Kind::Integer) {
    uint64_t zeros = asUnsigned(bits, step.b);
    if (step.kind2 == Kind::Integer)
      return wrap(isUnsigned ? int64_t(zeros) : step.b == 1 ? -bits : bits, step.width);
    // Convert directly to float: a conversion via double would round twice.
    int64_t value = step.b == 1 ? -bits : bits;
    double result = step.width == 32 ? double(isUnsigned ? float(zeros) : float(value))
                    : isUnsigned     ? double(zeros)
                                     : double(value);
    return std::bit_cast<int64_t>(result);
  }
  double value = std::bit_cast<double>(bits);
  if (step.kind2 == Kind::Float)
    return std::bit_cast<int64_t>(roundTo(value, step.width));
  double whole = std::trunc(value);
  if (isUnsigned) {
    if (!(whole >= 0 && whole < std::ldexp(1.0, step.width)))
      return std::nullopt;
    return wrap(int64_t(uint64_t(whole)), step.width);
  }
  double end = std::ldexp(1.0, step.width - 1);
  if (!(whole >= -end && whole < end))
    return std::nullopt;
  return wrap(int64_t(whole), step.width);
}

} // namespace pto_mlir::bytecode

#endif
