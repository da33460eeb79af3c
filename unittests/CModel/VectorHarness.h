// Runs one vector instruction on whole tiles, which are loaded before and stored after it, elements outside the valid
// region included.
#ifndef PTO_MLIR_UNITTESTS_CMODEL_VECTORHARNESS_H
#define PTO_MLIR_UNITTESTS_CMODEL_VECTORHARNESS_H

#include "TestKernel.h"

#include <cmath>
#include <functional>
#include <limits>

namespace pto_mlir::cmodel::test {

using half = _Float16; // conversions of the compiler, independent of Support

/// For typed tests: _Float16 has no type information.
template <class T> struct Tag {
  using type = T;
};

template <class T> constexpr isa::ElementType typeOf() {
  if constexpr (std::is_same_v<T, float>)
    return isa::ElementType::f32;
  else if constexpr (std::is_same_v<T, half>)
    return isa::ElementType::f16;
  else if constexpr (std::is_same_v<T, int8_t>)
    return isa::ElementType::i8;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return isa::ElementType::u8;
  else if constexpr (std::is_same_v<T, int16_t>)
    return isa::ElementType::i16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return isa::ElementType::i32;
  else
    return isa::ElementType::i64;
}

/// The box and the valid region of a tile.
struct TileShape {
  uint16_t rows, cols, validRows, validCols;
};
// Single element, one row, ragged, odd rows, full, wide.
inline const TileShape shapes[] = {{1, 16, 1, 1},  {1, 64, 1, 37},   {3, 16, 3, 13},
                                   {7, 48, 5, 41}, {16, 64, 16, 64}, {5, 320, 5, 317}};

template <class T> std::vector<T> randomValues(size_t n, uint32_t seed, float low = -4.0f, float high = 4.0f) {
  std::vector<float> f = randomFloats(n, seed, low, high);
  std::vector<T> v(n);
  for (size_t i = 0; i < n; ++i)
    v[i] = std::is_integral_v<T> ? T(std::lround(f[i] * 1000.0f)) : T(f[i]);
  return v;
}

/// A matrix in global memory and the UB tile that it is loaded into.
template <class T> struct Operand {
  std::vector<T> values;
  isa::Tile tile;
};

inline isa::View fullView(uint8_t arg, const isa::Tile &t) {
  // The tile's box in memory order: rows of ND, columns of DN.
  bool dn = t.layout == isa::Layout::DN;
  return view(arg, t.type, dn ? t.cols : t.rows, dn ? t.rows : t.cols);
}
inline isa::Tile whole(isa::Tile t) {
  if (t.layout == isa::Layout::DN)
    std::swap(t.rows, t.cols), t.layout = isa::Layout::ND;
  t.validRows = t.rows;
  t.validCols = t.cols;
  return t;
}

/// Loads every operand whole, executes `insns`, stores operand 0 whole and returns it.
template <class D, class... S>
std::vector<D> runVector(TestDevice &device, const std::function<void(TestKernel &)> &insns, const Operand<D> &dst,
                         const Operand<S> &...sources) {
  using isa::Pipe;
  TestKernel kernel(isa::CoreKind::AIV, uint32_t(2 + sizeof...(sources)));
  uint8_t arg = 0;
  auto fetch = [&](const isa::Tile &t) {
    kernel.add(Pipe::MTE2, isa::TLoad{whole(t), fullView(arg, t), isa::Memory::UB}), ++arg;
  };
  fetch(dst.tile);
  (fetch(sources.tile), ...);
  kernel.sync(Pipe::MTE2, Pipe::V);
  insns(kernel);
  kernel.sync(Pipe::V, Pipe::MTE3);
  isa::TStore store;
  store.dst = fullView(arg, dst.tile); // not the buffer it was loaded from: both sub-blocks run the kernel
  store.src = whole(dst.tile);
  store.space = isa::Memory::UB;
  kernel.add(Pipe::MTE3, store);
  std::vector<pto_arg> args{device.upload(dst.values), device.upload(sources.values)..., device.upload(dst.values)};
  EXPECT_EQ(device.run(kernel, args), PTO_OK) << device.error();
  return device.download<D>(args.back());
}

/// Whether bit patterns are equal; any NaN equals any NaN.
template <class T> bool sameBits(T a, T b) {
  if (a != a && b != b)
    return true;
  return std::memcmp(&a, &b, sizeof a) == 0;
}

} // namespace pto_mlir::cmodel::test

#endif
