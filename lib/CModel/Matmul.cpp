// A register-blocked micro-kernel over packed panels. The right operand (boxes with k innermost) is transposed into panels [k][16]; a
// left operand of f32 is read where it lies, a narrower one is widened box by box. Every level of the library performs the same
// operations in the same order: vector_size types with an explicit fma are the same arithmetic on SSE2 and on AVX2.
#include "Matmul.h"

#include "Element.h"

#include <cmath>

// Vectors wider than the machine's are passed between inlined functions only.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace pto_mlir::cmodel {
namespace {

template <class C> struct Vector;
template <> struct Vector<float> {
  typedef float type __attribute__((vector_size(32)));
};
template <> struct Vector<int32_t> {
  typedef uint32_t type __attribute__((vector_size(32))); // unsigned: wraps
};
template <class C> using Vec = typename Vector<C>::type;
constexpr uint32_t lanes = 8;

template <class C> inline Vec<C> loadVector(const C *p) {
  Vec<C> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class C> inline void storeVector(C *p, Vec<C> v) { std::memcpy(p, &v, sizeof v); }

inline Vec<float> multiplyAdd(Vec<float> a, Vec<float> b, Vec<float> c) {
#if __has_builtin(__builtin_elementwise_fma)
  return __builtin_elementwise_fma(a, b, c);
#else
  for (uint32_t i = 0; i < lanes; ++i)
    c[i] = std::fma(a[i], b[i], c[i]);
  return c;
#endif
}
inline Vec<int32_t> multiplyAdd(Vec<int32_t> a, Vec<int32_t> b, Vec<int32_t> c) { return a * b + c; }

/// The left operand: element (i, k) of a block of 16 rows lies at data[block * blockStride + k / c0 * boxStride + i * c0 + k % c0].
template <class C> struct Left {
  const C *data;
  size_t blockStride, boxStride;
  uint32_t c0;
};

/// R rows by V vectors: out[i][j] = sum over k of a(i, k) * panel[k][j].
template <class C, int R, int V>
inline void microKernel(const C *a, size_t boxStride, uint32_t c0, uint32_t depth, const C *panel, Vec<C> (&out)[R][V]) {
  Vec<C> sum[R][V] = {};
  for (uint32_t k0 = 0; k0 < depth; k0 += c0, a += boxStride) {
    uint32_t n = std::min(c0, depth - k0);
    for (uint32_t k = 0; k < n; ++k, panel += V * lanes) {
      Vec<C> right[V];
      for (int j = 0; j < V; ++j)
        right[j] = loadVector<C>(panel + j * lanes);
      for (int i = 0; i < R; ++i) {
        C scalar = a[i * c0 + k];
        Vec<C> left = Vec<C>{} + decltype(Vec<C>{}[0] + 0)(scalar);
        for (int j = 0; j < V; ++j)
          sum[i][j] = multiplyAdd(left, right[j], sum[i][j]);
      }
    }
  }
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < V; ++j)
      out[i][j] = sum[i][j];
}

/// Where results go: rows of 16 in the NZ16 tile.
template <class C> struct Output {
  C *dst;
  const C *acc;  // same place in the accumulator, or null
  const C *bias; // of these columns, or null
  uint32_t cols; // valid columns of this panel
};

template <class C, int R, int V>
inline void panelRows(const C *a, size_t boxStride, uint32_t c0, uint32_t depth, const C *panel, const Output<C> &out, uint32_t row) {
  Vec<C> sum[R][V];
  microKernel<C, R, V>(a, boxStride, c0, depth, panel, sum);
  for (int i = 0; i < R; ++i) {
    C *dst = out.dst + (row + i) * 16;
    for (int j = 0; j < V; ++j) {
      if (out.acc)
        sum[i][j] = loadVector<C>(out.acc + (row + i) * 16 + j * lanes) + sum[i][j];
      if (out.bias) {
        C bias[lanes] = {};
        std::memcpy(bias, out.bias + j * lanes, std::min<size_t>(lanes, out.cols > j * lanes ? out.cols - j * lanes : 0) * sizeof(C));
        sum[i][j] = sum[i][j] + loadVector<C>(bias);
      }
    }
    if (out.cols >= V * lanes)
      for (int j = 0; j < V; ++j)
        storeVector<C>(dst + j * lanes, sum[i][j]);
    else
      std::memcpy(dst, &sum[i][0], out.cols * sizeof(C));
  }
}

/// All rows of one panel of V * 8 columns. R rows at a time; R * V = 8 accumulators hide the latency of the multiply-add.
template <class C, int V> void panelProduct(const Left<C> &left, uint32_t rows, uint32_t depth, const C *panel, const Output<C> &out) {
  constexpr int R = 8 / V;
  for (uint32_t row = 0; row < rows;) {
    const C *a = left.data + row / 16 * left.blockStride + row % 16 * left.c0;
    uint32_t rest = rows - row;
    if (rest >= R) {
      panelRows<C, R, V>(a, left.boxStride, left.c0, depth, panel, out, row);
      row += R;
    } else if (rest >= 2) {
      panelRows<C, 2, V>(a, left.boxStride, left.c0, depth, panel, out, row);
      row += 2;
    } else {
      panelRows<C, 1, V>(a, left.boxStride, left.c0, depth, panel, out, row);
      row += 1;
    }
  }
}

/// Widens the boxes of the left operand that hold valid elements; f32 stays where it is.
template <class T, class C> Left<C> widenLeft(PanelCache &cache, const LocalTile &a) {
  uint32_t c0 = 32 / sizeof(T), boxElements = 16 * c0;
  bool zz = a.is(isa::Layout::ZZ);
  Left<C> left{nullptr, zz ? size_t(a.cols) * 16 : boxElements, zz ? boxElements : size_t(a.rows) * c0, c0};
  if constexpr (std::is_same_v<T, C>) {
    left.data = a.as<C>();
    return left;
  } else {
    PanelCache::Entry &entry = cache.find(a);
    if (!entry.live) {
      entry.words.resize(size_t(a.rows) * a.cols);
      C *out = reinterpret_cast<C *>(entry.words.data());
      uint32_t blocks = (a.validRows + 15) / 16, boxes = (a.validCols + c0 - 1) / c0;
      for (uint32_t i = 0; i < blocks; ++i)
        for (uint32_t j = 0; j < boxes; ++j) {
          size_t at = i * left.blockStride + j * left.boxStride;
          const T *box = a.as<T>() + at;
          PTO_VECTORIZE
          for (uint32_t e = 0; e < boxElements; ++e)
            out[at + e] = C(load(box[e]));
        }
      entry.live = true;
    }
    left.data = reinterpret_cast<const C *>(entry.words.data());
    return left;
  }
}

/// Panels [k][16] (the last one [k][8] when at most 8 columns are left) of the right operand's valid part; zero beyond valid columns.
template <class T, class C> const C *packRight(PanelCache &cache, const LocalTile &b) {
  PanelCache::Entry &entry = cache.find(b);
  if (!entry.live) {
    constexpr uint32_t k0 = 32 / sizeof(T);
    uint32_t depth = b.validRows, cols = b.validCols;
    entry.words.resize(size_t(depth) * ((cols + 15) / 16 * 16));
    C *out = reinterpret_cast<C *>(entry.words.data());
    for (uint32_t n = 0; n < cols; n += 16, out += size_t(depth) * 16) {
      uint32_t width = cols - n <= 8 ? 8 : 16, valid = std::min(width, cols - n);
      for (uint32_t k = 0; k < depth; k += k0) {
        const T *box = b.as<T>() + size_t(k / k0) * b.cols * k0 + size_t(n) * k0; // [16 n][k0 k]
        C wide[16 * k0];
        PTO_VECTORIZE
        for (uint32_t e = 0; e < 16 * k0; ++e)
          wide[e] = C(load(box[e]));
        C *to = out + size_t(k) * width;
        for (uint32_t i = 0; i < std::min(k0, depth - k); ++i)
          for (uint32_t j = 0; j < width; ++j)
            to[i * width + j] = j < valid ? wide[j * k0 + i] : C(0);
      }
    }
    entry.live = true;
  }
  return reinterpret_cast<const C *>(entry.words.data());
}

template <class T, class C>
void product(Core &core, const LocalTile &dst, const LocalTile *acc, const LocalTile &a, const LocalTile &b, const LocalTile *bias) {
  Left<C> left = widenLeft<T, C>(core.leftPanels, a);
  const C *panel = packRight<T, C>(core.rightPanels, b);
  uint32_t rows = dst.validRows, cols = dst.validCols, depth = a.validCols;
  for (uint32_t n = 0; n < cols; n += 16, panel += size_t(depth) * 16) {
    size_t at = size_t(n) * dst.rows;
    Output<C> out{dst.as<C>() + at, acc ? acc->as<C>() + size_t(n) * acc->rows : nullptr, bias ? bias->as<C>() + n : nullptr,
                  std::min(16u, cols - n)};
    if (cols - n <= 8)
      panelProduct<C, 1>(left, rows, depth, panel, out);
    else
      panelProduct<C, 2>(left, rows, depth, panel, out);
  }
}

} // namespace

void matmul(Core &core, const LocalTile &dst, const LocalTile *acc, const LocalTile &a, const LocalTile &b, const LocalTile *bias) {
  if (a.validCols != b.validRows || dst.validRows != a.validRows || dst.validCols != b.validCols ||
      (acc && (acc->validRows < dst.validRows || acc->validCols < dst.validCols)) || (bias && bias->validCols < dst.validCols)) {
    auto shape = [](const LocalTile &t) { return std::to_string(t.validRows) + "x" + std::to_string(t.validCols); };
    core.fault(FaultKind::IllegalShape, "product of " + shape(a) + " and " + shape(b) + " into " + shape(dst) +
                                            (acc ? " with accumulator " + shape(*acc) : "") + (bias ? " with bias " + shape(*bias) : ""));
    return;
  }
  switch (a.type) {
  case isa::ElementType::f32:
    return product<float, float>(core, dst, acc, a, b, bias);
  case isa::ElementType::f16:
    return product<Half, float>(core, dst, acc, a, b, bias);
  case isa::ElementType::bf16:
    return product<BFloat, float>(core, dst, acc, a, b, bias);
  case isa::ElementType::i8:
    return product<int8_t, int32_t>(core, dst, acc, a, b, bias);
  default:
    core.fault(FaultKind::IllegalType, "matrix product of type number " + std::to_string(unsigned(a.type)));
  }
}

} // namespace pto_mlir::cmodel
