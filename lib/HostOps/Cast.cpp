#include "pto_mlir/HostOps/HostOps.h"

#include "pto_mlir/Support/BFloat16.h"
#include "pto_mlir/Support/Float16.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace pto_mlir::hostops {

namespace {

// One tag per element type: its storage, and its value as int64, uint64 or double.
template <class T> struct Plain {
  using Storage = T;
  using Value = T;
  static Value load(T stored) { return stored; }
  static T store(Value value) { return value; }
};
struct Half {
  using Storage = uint16_t;
  using Value = float;
  static Value load(uint16_t stored) { return halfToFloat(stored); }
  static uint16_t store(Value value) { return floatToHalf(value); }
};
struct Brain {
  using Storage = uint16_t;
  using Value = float;
  static Value load(uint16_t stored) { return bfloat16ToFloat(stored); }
  static uint16_t store(Value value) { return floatToBFloat16(value); }
};
struct Bool {
  using Storage = uint8_t;
  using Value = bool;
  static Value load(uint8_t stored) { return stored != 0; }
  static uint8_t store(Value value) { return value; }
};

template <class To, class From> bool fits(From value) {
  if constexpr (std::is_floating_point_v<To>) {
    return true;
  } else if constexpr (std::is_floating_point_v<From>) {
    From whole = std::trunc(value);
    // 2^digits is exactly representable as a float; max() may not be.
    From end = std::ldexp(From(1), std::numeric_limits<To>::digits);
    return whole < end && whole >= From(std::numeric_limits<To>::min());
  } else if constexpr (std::is_signed_v<From> && !std::is_signed_v<To>) {
    return value >= 0 && static_cast<uint64_t>(value) <= std::numeric_limits<To>::max();
  } else if constexpr (!std::is_signed_v<From> && std::is_signed_v<To>) {
    return static_cast<uint64_t>(value) <= static_cast<uint64_t>(std::numeric_limits<To>::max());
  } else {
    return value >= std::numeric_limits<To>::min() && value <= std::numeric_limits<To>::max();
  }
}

// Per source type and not inlined, so that it is not instantiated for each of the 169 type pairs.
template <class V> [[gnu::noinline]] Status cannotHold(uint64_t index, V value) {
  return Failure{"element " + std::to_string(index) + " has the value " + std::to_string(value) +
                 ", which the narrower type cannot hold"};
}

template <class From, class To> Status convert(const void *in, void *out, uint64_t count) {
  auto *source = static_cast<const typename From::Storage *>(in);
  auto *target = static_cast<typename To::Storage *>(out);
  for (uint64_t i = 0; i < count; ++i) {
    auto value = From::load(source[i]);
    if constexpr (std::is_same_v<To, Bool>) {
      target[i] = To::store(value != 0);
    } else {
      if (!fits<typename To::Value>(value))
        return cannotHold(i, value);
      target[i] = To::store(static_cast<typename To::Value>(value));
    }
  }
  return {};
}

template <class Use> auto withType(ElementType type, Use use) -> decltype(use(Bool())) {
  switch (type) {
  case ElementType::F32:
    return use(Plain<float>());
  case ElementType::F64:
    return use(Plain<double>());
  case ElementType::F16:
    return use(Half());
  case ElementType::BF16:
    return use(Brain());
  case ElementType::I8:
    return use(Plain<int8_t>());
  case ElementType::U8:
    return use(Plain<uint8_t>());
  case ElementType::I16:
    return use(Plain<int16_t>());
  case ElementType::U16:
    return use(Plain<uint16_t>());
  case ElementType::I32:
    return use(Plain<int32_t>());
  case ElementType::U32:
    return use(Plain<uint32_t>());
  case ElementType::I64:
    return use(Plain<int64_t>());
  case ElementType::U64:
    return use(Plain<uint64_t>());
  case ElementType::Boolean:
    return use(Bool());
  default:
    return Failure{"element type " + std::to_string(static_cast<unsigned>(type)) + " cannot be converted on the host"};
  }
}

} // namespace

Status cast(const void *in, ElementType from, void *out, ElementType to, uint64_t count) {
  return withType(from, [&](auto fromTag) -> Status {
    return withType(to,
                    [&](auto toTag) -> Status { return convert<decltype(fromTag), decltype(toTag)>(in, out, count); });
  });
}

} // namespace pto_mlir::hostops
