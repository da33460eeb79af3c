// Element types as stored in memory, and the compute type of each.
#ifndef PTO_MLIR_CMODEL_ELEMENT_H
#define PTO_MLIR_CMODEL_ELEMENT_H

#include "pto_mlir/ISA/Operands.h"
#include "pto_mlir/Support/BFloat16.h"
#include "pto_mlir/Support/Float16.h"

#include <bit>
#include <type_traits>

// Asserts that iterations of the following loop depend on each other at most through dst[i] and src[i]; the caller
// guarantees it.
#if defined(__clang__)
#define PTO_VECTORIZE _Pragma("clang loop vectorize(assume_safety) interleave(enable)")
#else
#define PTO_VECTORIZE _Pragma("GCC ivdep")
#endif

namespace pto_mlir::cmodel {

/// An f16 or bf16 as stored, as a type of its own.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

// The compute type of f16 and bf16 is float; that of every other type is the type itself.
inline float load(float v) { return v; }
inline double load(double v) { return v; }
inline int8_t load(int8_t v) { return v; }
inline uint8_t load(uint8_t v) { return v; }
inline int16_t load(int16_t v) { return v; }
inline uint16_t load(uint16_t v) { return v; }
inline int32_t load(int32_t v) { return v; }
inline uint32_t load(uint32_t v) { return v; }
inline int64_t load(int64_t v) { return v; }
inline uint64_t load(uint64_t v) { return v; }
inline float load(BFloat v) { return bfloat16ToFloat(v.bits); }
#if defined(__F16C__) && defined(__FLT16_MANT_DIG__)
inline float load(Half v) { return float(std::bit_cast<_Float16>(v.bits)); }
inline Half toHalf(float v) { return {std::bit_cast<uint16_t>(_Float16(v))}; }
#else
inline float load(Half v) { return halfToFloat(v.bits); }
inline Half toHalf(float v) { return {floatToHalf(v)}; }
#endif

template <class T> using Compute = decltype(load(T()));

/// The computed value as an element, rounded once.
template <class T, class V> inline T store(V value) {
  if constexpr (std::is_same_v<T, Half>)
    return toHalf(value);
  else if constexpr (std::is_same_v<T, BFloat>)
    return {floatToBFloat16(value)};
  else
    return T(value);
}

template <class T> constexpr isa::ElementType elementType();
template <> constexpr isa::ElementType elementType<float>() { return isa::ElementType::f32; }
template <> constexpr isa::ElementType elementType<Half>() { return isa::ElementType::f16; }
template <> constexpr isa::ElementType elementType<BFloat>() { return isa::ElementType::bf16; }
template <> constexpr isa::ElementType elementType<int8_t>() { return isa::ElementType::i8; }
template <> constexpr isa::ElementType elementType<uint8_t>() { return isa::ElementType::u8; }
template <> constexpr isa::ElementType elementType<int16_t>() { return isa::ElementType::i16; }
template <> constexpr isa::ElementType elementType<uint16_t>() { return isa::ElementType::u16; }
template <> constexpr isa::ElementType elementType<int32_t>() { return isa::ElementType::i32; }
template <> constexpr isa::ElementType elementType<uint32_t>() { return isa::ElementType::u32; }
template <> constexpr isa::ElementType elementType<int64_t>() { return isa::ElementType::i64; }
template <> constexpr isa::ElementType elementType<uint64_t>() { return isa::ElementType::u64; }

/// A list of element types. `visit` calls f.operator()<T>() for the type of the list that equals `type`, and returns
/// false if there is none.
template <class... Ts> struct Types {
  template <class F> static bool visit(isa::ElementType type, F &&f) {
    return ((type == elementType<Ts>() ? (f.template operator()<Ts>(), true) : false) || ...);
  }
  template <class T> static constexpr bool has = (std::is_same_v<T, Ts> || ...);
};

using Floats = Types<float, Half>;
using Standard = Types<float, Half, int16_t, int32_t>;
using Integers = Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>;
using Powerable = Types<float, Half, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>;
using Reluable = Types<float, Half, int32_t>;
using Comparable = Types<float, Half, int32_t>;
// For instructions that only move bits: one carrier per width.
using Carriers = Types<uint8_t, uint16_t, uint32_t, uint64_t>;

/// The unsigned type of the same width, for instructions that copy elements without interpreting them.
inline isa::ElementType carrier(isa::ElementType type) {
  switch (isa::elementBits(type)) {
  case 8:
    return isa::ElementType::u8;
  case 16:
    return isa::ElementType::u16;
  case 32:
    return isa::ElementType::u32;
  default:
    return isa::ElementType::u64;
  }
}

/// A Scalar operand in T's compute type. `bits` holds f32 bits for float tiles (rounded once to T) and an i32 for
/// integer tiles.
template <class T> inline Compute<T> scalarValue(int64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(uint32_t(bits));
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>)
    return load(store<T>(std::bit_cast<float>(uint32_t(bits))));
  else
    return T(int32_t(uint32_t(bits)));
}

} // namespace pto_mlir::cmodel

#endif
