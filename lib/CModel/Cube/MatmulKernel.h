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

/// Adds accumulator and bias to rows of V vectors and stores the valid elements.
template <class C, unsigned Lanes, int V>
inline void finishRows(const MatmulTask<C> &t, const Vec<C, Lanes> *results, uint32_t row, uint32_t rows,
                       uint32_t col) {
  using VecC = Vec<C, Lanes>;
  for (int j = 0; j < V; ++j) {
    uint32_t c = col + uint32_t(j) * Lanes;
    size_t at = c % 16 + size_t(row) * 16;
    C *dst = t.dst + size_t(c / 16) * t.dstRows * 16 + at;
    const C *acc = t.acc ? t.acc + size_t(c / 16) * t.accRows * 16 + at : nullptr;
    uint32_t n = t.cols - c < Lanes ? t.cols - c : Lanes;
    VecC bias = {};
    if (t.bias)
      for (uint32_t e = 0; e < n; ++e)
        bias[e] = t.bias[c + e];
    for (uint32_t i = 0; i < rows; ++i) {
      VecC result = results[i * V + j];
      if (acc)
        result = loadVector<VecC>(acc + i * 16) + result;
      if (t.bias)
        result = result + bias;
      if (n == Lanes)
        std::memcpy(dst + i * 16, &result, sizeof result);
      else
        for (uint32_t e = 0; e < n; ++e)
          dst[i * 16 + e] = C(result[e]);
    }
  }
}

/// R rows x V vectors of one panel: chains of multiply-adds over k ascending, then + accumulator, then + bias.
template <class C, unsigned Lanes, int R, int V>
inline void panelRows(const MatmulTask<C> &t, const C *a, const C *panel, uint32_t row, uint32_t validRows,
                      uint32_t col) {
  using VecC = Vec<C, Lanes>;
  VecC sum[R][V] = {};
  auto step = [&](uint32_t k, const C *left) __attribute__((always_inline)) {
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
  uint32_t depth = t.depth;
  for (; depth >= leftGroup; depth -= leftGroup, a += t.leftStride, panel += leftGroup * V * Lanes)
#pragma clang loop unroll(full)
    for (uint32_t k = 0; k < leftGroup; ++k)
      step(k, a);
  for (uint32_t k = 0; k < depth; ++k)
    step(k, a);
  if (validRows == R && t.cols - col >= V * Lanes && !t.bias) {
#pragma clang loop unroll(full)
    for (int j = 0; j < V; ++j) {
      uint32_t c = col + uint32_t(j) * Lanes;
      size_t at = c % 16 + size_t(row) * 16;
      C *dst = t.dst + size_t(c / 16) * t.dstRows * 16 + at;
      if (t.acc) {
        const C *acc = t.acc + size_t(c / 16) * t.accRows * 16 + at;
#pragma clang loop unroll(full)
        for (int i = 0; i < R; ++i)
          sum[i][j] = loadVector<VecC>(acc + i * 16) + sum[i][j];
      }
#pragma clang loop unroll(full)
      for (int i = 0; i < R; ++i)
        std::memcpy(dst + i * 16, &sum[i][j], sizeof(VecC));
    }
    return;
  }
  // Copied through memory: the sums stay in registers only if every index into them is a constant.
  VecC results[R][V];
#pragma clang loop unroll(full)
  for (int i = 0; i < R; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < V; ++j)
      std::memcpy(&results[i][j], &sum[i][j], sizeof(VecC));
  finishRows<C, Lanes, V>(t, &results[0][0], row, validRows, col);
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
