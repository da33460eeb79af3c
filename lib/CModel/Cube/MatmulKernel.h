// The micro-kernel of the matrix product. Included by one source per instruction set; everything has internal linkage
// and calls nothing of the standard library, so that the linker cannot pick code compiled for a newer processor. Every
// instruction set performs the same operations on each element in the same order: results are bit-identical.
#ifndef PTO_MLIR_CMODEL_MATMULKERNEL_H
#define PTO_MLIR_CMODEL_MATMULKERNEL_H

#include "Cube/MatmulTask.h"

#include <cstring>

// Vectors wider than the target's are passed between inlined functions only, so their ABI does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace pto_mlir::cmodel {
namespace {

template <class C, unsigned Lanes> struct Vector;
template <> struct Vector<float, 8> {
  typedef float type __attribute__((vector_size(32)));
};
template <> struct Vector<float, 16> {
  typedef float type __attribute__((vector_size(64)));
};
template <> struct Vector<int32_t, 8> {
  typedef uint32_t type __attribute__((vector_size(32))); // unsigned: wraps
};
template <> struct Vector<int32_t, 16> {
  typedef uint32_t type __attribute__((vector_size(64)));
};
template <class C, unsigned Lanes> using Vec = typename Vector<C, Lanes>::type;

template <class V> inline V loadVector(const void *p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// Broadcasts a value. Built lane by lane: adding to zero would change the sign of -0 and cost an instruction.
template <class V, class C> inline V splat(C value) {
  V v;
  for (unsigned i = 0; i < sizeof(V) / sizeof(C); ++i)
    v[i] = value;
  return v;
}

/// a * b + c: fused for f32, wrapping for integers.
template <class V> inline V multiplyAdd(V a, V b, V c) {
  if constexpr (sizeof(a[0] + 0.0f) == sizeof(float) && __is_same(decltype(a[0] + 0), float)) {
#if __has_builtin(__builtin_elementwise_fma)
    return __builtin_elementwise_fma(a, b, c);
#else
    for (unsigned i = 0; i < sizeof(V) / sizeof(float); ++i)
      c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
#endif
  } else {
    return a * b + c;
  }
}

/// The biases of the columns from `col` on; zero where there are none.
template <class C, unsigned Lanes> inline Vec<C, Lanes> biasesFrom(const MatmulTask<C> &t, uint32_t col) {
  if (t.bias && t.cols - col >= Lanes)
    return loadVector<Vec<C, Lanes>>(t.bias + col);
  Vec<C, Lanes> biases = {};
  if (t.bias)
    for (uint32_t e = 0; e < t.cols - col; ++e)
      biases[e] = t.bias[col + e];
  return biases;
}

/// What the chain of an element begins with: the accumulator plus the bias, either alone, or zero.
template <class C, unsigned Lanes>
inline Vec<C, Lanes> firstSum(const MatmulTask<C> &t, const Vec<C, Lanes> &biases, uint32_t row, uint32_t col) {
  Vec<C, Lanes> first = {};
  if (t.acc)
    first = loadVector<Vec<C, Lanes>>(t.acc + size_t(col / 16) * t.accRows * 16 + size_t(row) * 16 + col % 16);
  return t.bias ? first + biases : first; // adding zero would change the sign of -0
}

/// Stores the valid elements of a vector.
template <class C, unsigned Lanes>
inline void storeSum(const MatmulTask<C> &t, const Vec<C, Lanes> &sum, uint32_t row, uint32_t col) {
  C *dst = t.dst + size_t(col / 16) * t.dstRows * 16 + size_t(row) * 16 + col % 16;
  uint32_t n = t.cols - col < Lanes ? t.cols - col : Lanes;
  if (n == Lanes)
    std::memcpy(dst, &sum, sizeof sum);
  else
    for (uint32_t e = 0; e < n; ++e)
      dst[e] = C(sum[e]);
}

/// R rows x V vectors of one panel. Each step of `t.step` values of k is a chain of multiply-adds from 0, k ascending;
/// the steps are added to the accumulator one after the other.
template <class C, unsigned Lanes, int R, int V>
inline void panelRows(const MatmulTask<C> &t, const C *a, const C *panel, uint32_t row, uint32_t validRows,
                      uint32_t col) {
  using VecC = Vec<C, Lanes>;
  VecC total[R][V] = {};
  if (t.acc || t.bias)
    for (int j = 0; j < V; ++j) {
      uint32_t from = col + uint32_t(j) * Lanes;
      if (from >= t.cols)
        break;
      VecC biases = biasesFrom<C, Lanes>(t, from);
      for (int i = 0; i < R; ++i)
        if (uint32_t(i) < validRows)
          total[i][j] = firstSum<C, Lanes>(t, biases, row + uint32_t(i), from);
    }
  VecC sum[R][V];
  auto multiply = [&](uint32_t k, const C *left) __attribute__((always_inline)) {
    VecC right[V];
#pragma clang loop unroll(full)
    for (int j = 0; j < V; ++j)
      right[j] = loadVector<VecC>(panel + (k * V + j) * Lanes);
#pragma clang loop unroll(full)
    for (int i = 0; i < R; ++i) {
      VecC broadcast = splat<VecC>(left[i * leftGroup + k]);
#pragma clang loop unroll(full)
      for (int j = 0; j < V; ++j)
        sum[i][j] = multiplyAdd(broadcast, right[j], sum[i][j]);
    }
  };
  for (uint32_t depth = t.depth; depth;) {
    uint32_t step = depth < t.step ? depth : t.step;
    depth -= step;
#pragma clang loop unroll(full)
    for (int i = 0; i < R; ++i)
#pragma clang loop unroll(full)
      for (int j = 0; j < V; ++j)
        sum[i][j] = VecC{};
    for (; step >= leftGroup; step -= leftGroup, a += t.leftStride, panel += leftGroup * V * Lanes)
#pragma clang loop unroll(full)
      for (uint32_t k = 0; k < leftGroup; ++k)
        multiply(k, a);
    for (uint32_t k = 0; k < step; ++k)
      multiply(k, a);
#pragma clang loop unroll(full)
    for (int i = 0; i < R; ++i)
#pragma clang loop unroll(full)
      for (int j = 0; j < V; ++j)
        total[i][j] = total[i][j] + sum[i][j];
  }
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < V; ++j)
      if (uint32_t(i) < validRows && col + uint32_t(j) * Lanes < t.cols)
        storeSum<C, Lanes>(t, total[i][j], row + uint32_t(i), col + uint32_t(j) * Lanes);
}

/// All rows of one panel of V vectors.
template <class C, unsigned Lanes, int V> void panelProduct(const MatmulTask<C> &t, const C *panel, uint32_t col) {
  // Enough independent accumulators to hide the latency of the multiply-add, few enough for the register file: 8 to 12
  // of 16 registers, 16 to 24 of 32.
  constexpr int R = Lanes == 16 ? (V == 1 ? 16 : 8) : (V == 1 ? 8 : 4);
  auto rowStart = [&](uint32_t row) { return t.left + row / 16 * t.leftBlockStride + row % 16 * leftGroup; };
  if (t.rows == 1)
    return panelRows<C, Lanes, 1, V>(t, t.left, panel, 0, 1, col);
  // The last step may compute invalid rows of its box; they are not stored.
  for (uint32_t row = 0; row < t.rows; row += R)
    panelRows<C, Lanes, R, V>(t, rowStart(row), panel, row, t.rows - row < R ? t.rows - row : R, col);
}

/// The whole product, panel by panel.
template <class C, unsigned Lanes> void productOfPanels(const MatmulTask<C> &t) {
  const C *panel = t.panels;
  for (uint32_t col = 0; col < t.cols;) {
    unsigned vectors = panelVectors(t.cols - col, Lanes);
    if (vectors == 3)
      panelProduct<C, Lanes, 3>(t, panel, col);
    else if (vectors == 2)
      panelProduct<C, Lanes, 2>(t, panel, col);
    else
      panelProduct<C, Lanes, 1>(t, panel, col);
    panel += size_t(t.depth) * vectors * Lanes;
    col += vectors * Lanes;
  }
}

} // namespace
} // namespace pto_mlir::cmodel

#endif
