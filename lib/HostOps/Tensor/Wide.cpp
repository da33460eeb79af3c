#include "Wide.h"

#include "pto_mlir/Support/BFloat16.h"
#include "pto_mlir/Support/Float16.h"
#include "pto_mlir/Support/Float8.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace pto_mlir::hostops {

namespace {

// Per element type: how it is stored, and its value as a number of the class it belongs to.
template <class T> struct Stored {
  using Storage = T;
  static auto load(T stored) {
    if constexpr (std::is_floating_point_v<T>)
      return double(stored);
    else if constexpr (std::is_same_v<T, uint64_t>)
      return stored;
    else
      return int64_t(stored);
  }
  static T store(double value) {
    if constexpr (std::is_floating_point_v<T>) {
      return T(value);
    } else {
      if (std::isnan(value))
        return 0;
      // The first number beyond the type; max() itself may not be a double.
      double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
      if (value >= end)
        return std::numeric_limits<T>::max();
      return value <= double(std::numeric_limits<T>::min()) ? std::numeric_limits<T>::min() : T(value);
    }
  }
  static T store(int64_t value) { return T(value); }
  static T store(uint64_t value) { return T(value); }
};
// StoredNarrow floats are rounded once, from double: by way of f32 rounded to odd, which keeps what the second rounding
// needs.
float toOdd(double value) {
  float near = float(value);
  if (double(near) == value || !std::isfinite(near))
    return near;
  uint32_t bits = std::bit_cast<uint32_t>(near);
  if (std::fabs(double(near)) > std::fabs(value))
    --bits;
  return std::bit_cast<float>(bits | 1);
}
template <class S, float (*Load)(S), S (*Store)(float)> struct StoredNarrow {
  using Storage = S;
  static double load(S stored) { return Load(stored); }
  static S store(double value) { return Store(toOdd(value)); }
  static S store(int64_t value) { return Store(toOdd(double(value))); }
  static S store(uint64_t value) { return Store(toOdd(double(value))); }
};
// Floats of 8 bits saturate, or not, as ONNX's Cast.
template <float (*Load)(uint8_t), uint8_t (*Store)(float, bool), bool saturates> struct StoredFloat8 {
  using Storage = uint8_t;
  static double load(uint8_t stored) { return Load(stored); }
  static uint8_t store(double value) { return Store(toOdd(value), saturates); }
  static uint8_t store(int64_t value) { return store(double(value)); }
  static uint8_t store(uint64_t value) { return store(double(value)); }
};
// A byte for each element, as runPacked gives them.
struct StoredFloat4 {
  using Storage = uint8_t;
  static double load(uint8_t stored) { return float4E2M1ToFloat(stored); }
  static uint8_t store(double value) { return castToFloat4E2M1(toOdd(value)); }
  static uint8_t store(int64_t value) { return store(double(value)); }
  static uint8_t store(uint64_t value) { return store(double(value)); }
};
template <bool saturates, ScaleRounding rounding> struct StoredScale {
  using Storage = uint8_t;
  static double load(uint8_t stored) { return float8E8M0ToFloat(stored); }
  static uint8_t store(double value) { return castToFloat8E8M0(toOdd(value), saturates, rounding); }
  static uint8_t store(int64_t value) { return store(double(value)); }
  static uint8_t store(uint64_t value) { return store(double(value)); }
};
struct StoredBoolean {
  using Storage = uint8_t;
  static int64_t load(uint8_t stored) { return stored != 0; }
  template <class V> static uint8_t store(V value) { return value != 0; }
};
template <bool saturates, class Use> void withStorage(ElementType type, ScaleRounding rounding, Use use) {
  switch (type) {
  case ElementType::F64:
    return use(Stored<double>());
  case ElementType::F16:
    return use(StoredNarrow<uint16_t, halfToFloat, floatToHalf>());
  case ElementType::BF16:
    return use(StoredNarrow<uint16_t, bfloat16ToFloat, floatToBFloat16>());
  case ElementType::F8E4M3FN:
    return use(StoredFloat8<float8E4M3FNToFloat, castToFloat8E4M3FN, saturates>());
  case ElementType::F8E5M2:
    return use(StoredFloat8<float8E5M2ToFloat, castToFloat8E5M2, saturates>());
  case ElementType::F8E4M3FNUZ:
    return use(StoredFloat8<float8E4M3FNUZToFloat, castToFloat8E4M3FNUZ, saturates>());
  case ElementType::F8E5M2FNUZ:
    return use(StoredFloat8<float8E5M2FNUZToFloat, castToFloat8E5M2FNUZ, saturates>());
  case ElementType::F4E2M1:
    return use(StoredFloat4());
  case ElementType::F8E8M0:
    return rounding == ScaleRounding::Up     ? use(StoredScale<saturates, ScaleRounding::Up>())
           : rounding == ScaleRounding::Down ? use(StoredScale<saturates, ScaleRounding::Down>())
                                             : use(StoredScale<saturates, ScaleRounding::Nearest>());
  case ElementType::I8:
    return use(Stored<int8_t>());
  case ElementType::U8:
    return use(Stored<uint8_t>());
  case ElementType::I16:
    return use(Stored<int16_t>());
  case ElementType::U16:
    return use(Stored<uint16_t>());
  case ElementType::I32:
    return use(Stored<int32_t>());
  case ElementType::U32:
    return use(Stored<uint32_t>());
  case ElementType::I64:
    return use(Stored<int64_t>());
  case ElementType::U64:
  case ElementType::String:
    return use(Stored<uint64_t>());
  case ElementType::Boolean:
    return use(StoredBoolean());
  default:
    return use(Stored<float>());
  }
}

} // namespace

NumberClass classOf(ElementType type) {
  switch (type) {
  case ElementType::U64:
  case ElementType::String:
    return NumberClass::Unsigned;
  case ElementType::I8:
  case ElementType::U8:
  case ElementType::I16:
  case ElementType::U16:
  case ElementType::I32:
  case ElementType::U32:
  case ElementType::I64:
  case ElementType::Boolean:
    return NumberClass::Signed;
  default:
    return NumberClass::Float;
  }
}

uint64_t elementSize(ElementType type) { return (elementBits(type) + 7) / 8; }

uint64_t countOf(const std::vector<int64_t> &shape) {
  uint64_t count = 1;
  for (int64_t size : shape)
    count *= uint64_t(size);
  return count;
}

template <class V> std::vector<V> load(const TensorView &tensor) {
  std::vector<V> values(countOf(tensor.shape));
  withStorage<true>(tensor.type, ScaleRounding::Up, [&](auto tag) {
    using Storage = typename decltype(tag)::Storage;
    for (size_t i = 0; i < values.size(); ++i) {
      Storage stored;
      std::memcpy(&stored, tensor.data + i * sizeof(Storage), sizeof(Storage));
      values[i] = V(decltype(tag)::load(stored));
    }
  });
  return values;
}

template <class V>
void loadMatrix(const TensorView &tensor, int64_t start, int64_t rows, int64_t rowStep, int64_t columns,
                int64_t columnStep, V *out, int64_t outRowStep, int64_t outColumnStep) {
  if (rowStep == 1) { // elements that lie together one after the other
    std::swap(rows, columns);
    std::swap(rowStep, columnStep);
    std::swap(outRowStep, outColumnStep);
  }
  withStorage<true>(tensor.type, ScaleRounding::Up, [&](auto tag) {
    using Storage = typename decltype(tag)::Storage;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        Storage stored;
        std::memcpy(&stored, tensor.data + uint64_t(start + row * rowStep + column * columnStep) * sizeof(Storage),
                    sizeof(Storage));
        out[row * outRowStep + column * outColumnStep] = V(decltype(tag)::load(stored));
      }
  });
}

template <class V>
void store(const std::vector<V> &values, ElementType type, std::byte *out, bool saturates, ScaleRounding rounding) {
  auto write = [&](auto tag) {
    using Storage = typename decltype(tag)::Storage;
    for (size_t i = 0; i < values.size(); ++i) {
      Storage stored = decltype(tag)::store(values[i]);
      std::memcpy(out + i * sizeof(Storage), &stored, sizeof(Storage));
    }
  };
  saturates ? withStorage<true>(type, rounding, write) : withStorage<false>(type, rounding, write);
}

template std::vector<int64_t> load(const TensorView &);
template void loadMatrix(const TensorView &, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t *, int64_t, int64_t);
template std::vector<uint64_t> load(const TensorView &);
template void loadMatrix(const TensorView &, int64_t, int64_t, int64_t, int64_t, int64_t, uint64_t *, int64_t, int64_t);
template std::vector<double> load(const TensorView &);
template void loadMatrix(const TensorView &, int64_t, int64_t, int64_t, int64_t, int64_t, double *, int64_t, int64_t);
template void loadMatrix(const TensorView &, int64_t, int64_t, int64_t, int64_t, int64_t, float *, int64_t, int64_t);
template void store(const std::vector<int64_t> &, ElementType, std::byte *, bool, ScaleRounding);
template void store(const std::vector<uint64_t> &, ElementType, std::byte *, bool, ScaleRounding);
template void store(const std::vector<double> &, ElementType, std::byte *, bool, ScaleRounding);

std::vector<int64_t> stridesOf(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

StridedView::StridedView(const std::vector<int64_t> &sizes, const std::vector<int64_t> &steps) {
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1)
      continue;
    if (!shape.empty() && strides.back() == steps[d] * sizes[d]) {
      shape.back() *= sizes[d];
      strides.back() = steps[d];
      continue;
    }
    shape.push_back(sizes[d]);
    strides.push_back(steps[d]);
  }
  if (shape.empty()) {
    shape = {1};
    strides = {1};
  }
}

Failure outside(int64_t index, size_t dimension, int64_t extent) {
  return {"an index is " + std::to_string(index) + ", but dimension " + std::to_string(dimension) + " has " +
          std::to_string(extent) + " elements"};
}

std::vector<int64_t> broadcastStrides(const std::vector<int64_t> &operand, const std::vector<int64_t> &shape) {
  std::vector<int64_t> own = stridesOf(operand), strides(shape.size(), 0);
  size_t lead = shape.size() - own.size();
  for (size_t i = 0; i < own.size(); ++i)
    strides[lead + i] = operand[i] == 1 ? 0 : own[i];
  return strides;
}

std::optional<std::vector<int64_t>> broadcastShape(std::span<const TensorView> operands) {
  std::vector<int64_t> shape;
  for (const TensorView &operand : operands) {
    if (operand.shape.size() > shape.size())
      shape.insert(shape.begin(), operand.shape.size() - shape.size(), 1);
    size_t lead = shape.size() - operand.shape.size();
    for (size_t i = 0; i < operand.shape.size(); ++i) {
      int64_t &size = shape[lead + i];
      if (size != operand.shape[i] && size != 1 && operand.shape[i] != 1)
        return std::nullopt;
      if (size == 1)
        size = operand.shape[i];
    }
  }
  return shape;
}

} // namespace pto_mlir::hostops
