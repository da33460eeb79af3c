// Scalar functions that semantic functions map over tiles. Integers wrap. max and min propagate a NaN of the first
// operand and ignore one of the second, as the ISA specifies.
#ifndef PTO_MLIR_CMODEL_ARITHMETIC_H
#define PTO_MLIR_CMODEL_ARITHMETIC_H

#include "Arithmetic/VectorMath.h"

#include <type_traits>

namespace pto_mlir::cmodel {

// The unsigned type in which integer arithmetic wraps without undefined behaviour; 16-bit types would promote to int.
template <class T> struct Wrapping {
  using type = T;
};
template <class T>
  requires std::is_integral_v<T>
struct Wrapping<T> {
  using type = std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>;
};
template <class T> inline typename Wrapping<T>::type wrapping(T v) { return typename Wrapping<T>::type(v); }

struct Add {
  template <class T> T operator()(T a, T b) const { return T(wrapping(a) + wrapping(b)); }
};
struct Subtract {
  template <class T> T operator()(T a, T b) const { return T(wrapping(a) - wrapping(b)); }
};
struct Multiply {
  template <class T> T operator()(T a, T b) const { return T(wrapping(a) * wrapping(b)); }
};
struct Divide {
  template <class T> T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
      if (b == -1) // INT_MIN / -1 wraps to INT_MIN
        return T(wrapping(T(0)) - wrapping(a));
    return T(a / b);
  }
};
struct Max {
  template <class T> T operator()(T a, T b) const { return a < b ? b : a; }
};
struct Min {
  template <class T> T operator()(T a, T b) const { return b < a ? b : a; }
};
struct And {
  template <class T> T operator()(T a, T b) const { return T(a & b); }
};
struct Or {
  template <class T> T operator()(T a, T b) const { return T(a | b); }
};
struct Xor {
  template <class T> T operator()(T a, T b) const { return T(a ^ b); }
};
// A shift count that is negative or at least the width gives 0, or -1 for an arithmetic right shift of a negative
// value.
struct ShiftLeft {
  template <class T> T operator()(T a, T b) const { return uint64_t(b) < 8 * sizeof(T) ? T(wrapping(a) << b) : T(0); }
};
struct ShiftRight {
  template <class T> T operator()(T a, T b) const {
    if (uint64_t(b) < 8 * sizeof(T))
      return T(a >> b);
    return std::is_signed_v<T> && a < 0 ? T(-1) : T(0);
  }
};
// Floats are computed in double. Integers wrap; a negative exponent gives 0 unless the base is 1 or -1.
struct Power {
  template <class T> T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return T(std::pow(double(a), double(b)));
    } else {
      if (b < 0)
        return a == T(1) ? T(1) : a == T(-1) ? T(b % 2 ? -1 : 1) : T(0);
      auto result = wrapping(T(1)), base = wrapping(a);
      for (auto left = uint64_t(b); left; left >>= 1, base *= base)
        if (left & 1)
          result *= base;
      return T(result);
    }
  }
};
struct Not {
  template <class T> T operator()(T a) const { return T(~a); }
};
struct Negate {
  template <class T> T operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>)
      return -a;
    else
      return T(wrapping(T(0)) - wrapping(a));
  }
};
struct Abs {
  template <class T> T operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(a);
    else
      return a < 0 ? Negate()(a) : a;
  }
};
// Propagates NaN and -0.
struct Relu {
  template <class T> T operator()(T a) const { return a < T(0) ? T(0) : a; }
};
struct Reciprocal {
  template <class T> T operator()(T a) const { return Divide()(T(1), a); }
};
struct Sqrt {
  float operator()(float a) const { return std::sqrt(a); }
};
struct ReciprocalSqrt {
  float operator()(float a) const { return float(1.0 / std::sqrt(double(a))); }
};
struct Exp {
  float operator()(float a) const { return expFloat(a); }
};
struct Log {
  float operator()(float a) const { return logFloat(a); }
};
struct Identity {
  template <class T> T operator()(T a) const { return a; }
};

} // namespace pto_mlir::cmodel

#endif
