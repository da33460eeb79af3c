// Broadcasts, reductions, conversion, comparison and selection, transposition, padding.
#include "VectorHarness.h"

#include <algorithm>

using namespace pto_mlir;
using namespace pto_mlir::cmodel::test;
using isa::Layout;
using isa::Pipe;

namespace {

constexpr uint32_t place[] = {0, 32768, 65536, 98304};

template <class T> Operand<T> operand(int i, const TileShape &s) {
  return {randomValues<T>(size_t(s.rows) * s.cols, i + 1),
          tile(typeOf<T>(), Layout::ND, place[i], s.rows, s.cols, s.validRows, s.validCols)};
}
/// One value per row: a DN tile of one column.
template <class T> Operand<T> column(int i, uint16_t rows) {
  uint16_t padded = uint16_t((rows + 15) / 16 * 16);
  return {randomValues<T>(padded, i + 1), tile(typeOf<T>(), Layout::DN, place[i], padded, 1, rows, 1)};
}

template <class T> struct TileFunctions : testing::Test {};
using Standard = testing::Types<Tag<float>, Tag<half>, Tag<int32_t>>;
TYPED_TEST_SUITE(TileFunctions, Standard);

template <class T, class F> T rounded(T a, T b, F f) {
  if constexpr (std::is_integral_v<T>)
    return T(f(int64_t(a), int64_t(b)));
  else
    return T(f(float(a), float(b)));
}

TYPED_TEST(TileFunctions, Expand) {
  using T = typename TypeParam::type;
  TestDevice device;
  auto check = [&]<class Row, class Col, class F>(Row, Col, F f) {
    for (const TileShape &s : shapes) {
      Operand<T> dst = operand<T>(0, s), a = operand<T>(1, s), perRow = column<T>(2, s.validRows);
      Operand<T> perColumn = operand<T>(3, {1, s.cols, 1, s.validCols});
      constexpr uint16_t lanes = 32 / sizeof(T);
      Operand<T> blocks = operand<T>(2, {s.validRows, lanes, s.validRows, lanes});
      auto repeated =
          runVector(device, [&](TestKernel &k) { k.add(Pipe::V, Row{dst.tile, a.tile, blocks.tile}); }, dst, a, blocks);
      auto rows =
          runVector(device, [&](TestKernel &k) { k.add(Pipe::V, Row{dst.tile, a.tile, perRow.tile}); }, dst, a, perRow);
      auto cols = runVector(
          device, [&](TestKernel &k) { k.add(Pipe::V, Col{dst.tile, a.tile, perColumn.tile}); }, dst, a, perColumn);
      for (size_t r = 0, i = 0; r < s.rows; ++r)
        for (size_t c = 0; c < s.cols; ++c, ++i) {
          bool valid = r < s.validRows && c < s.validCols;
          ASSERT_TRUE(sameBits(rows[i], valid ? rounded(a.values[i], perRow.values[r], f) : dst.values[i]))
              << r << "," << c;
          T lane = blocks.values[valid ? r * lanes + c % lanes : 0];
          ASSERT_TRUE(sameBits(repeated[i], valid ? rounded(a.values[i], lane, f) : dst.values[i])) << r << "," << c;
          ASSERT_TRUE(sameBits(cols[i], valid ? rounded(a.values[i], perColumn.values[c], f) : dst.values[i]))
              << r << "," << c;
        }
    }
  };
  check(isa::TRowexpandadd{}, isa::TColexpandadd{}, [](auto a, auto b) { return a + b; });
  check(isa::TRowexpandsub{}, isa::TColexpandsub{}, [](auto a, auto b) { return a - b; });
  check(isa::TRowexpandmul{}, isa::TColexpandmul{}, [](auto a, auto b) { return a * b; });
  check(isa::TRowexpandmax{}, isa::TColexpandmax{}, [](auto a, auto b) { return std::max(a, b); });
  check(isa::TRowexpandmin{}, isa::TColexpandmin{}, [](auto a, auto b) { return std::min(a, b); });
  if constexpr (!std::is_integral_v<T>)
    check(isa::TRowexpanddiv{}, isa::TColexpanddiv{}, [](auto a, auto b) { return a / b; });
  for (const TileShape &s : shapes) {
    Operand<T> dst = operand<T>(0, s), perRow = column<T>(2, s.validRows),
               perColumn = operand<T>(3, {1, s.cols, 1, s.validCols});
    auto rows =
        runVector(device, [&](TestKernel &k) { k.add(Pipe::V, isa::TRowexpand{dst.tile, perRow.tile}); }, dst, perRow);
    auto cols = runVector(
        device, [&](TestKernel &k) { k.add(Pipe::V, isa::TColexpand{dst.tile, perColumn.tile}); }, dst, perColumn);
    for (size_t r = 0, i = 0; r < s.rows; ++r)
      for (size_t c = 0; c < s.cols; ++c, ++i) {
        bool valid = r < s.validRows && c < s.validCols;
        ASSERT_EQ(rows[i], valid ? perRow.values[r] : dst.values[i]);
        ASSERT_EQ(cols[i], valid ? perColumn.values[c] : dst.values[i]);
      }
  }
}

TYPED_TEST(TileFunctions, Reduce) {
  using T = typename TypeParam::type;
  TestDevice device;
  for (const TileShape &s : shapes) {
    Operand<T> src = operand<T>(1, s), perRow = column<T>(2, s.validRows),
               perColumn = operand<T>(3, {1, s.cols, 1, s.validCols});
    auto byRow = [&]<class I>(I) {
      return runVector(device, [&](TestKernel &k) { k.add(Pipe::V, I{perRow.tile, src.tile}); }, perRow, src);
    };
    auto byCol = [&]<class I>(I) {
      return runVector(device, [&](TestKernel &k) { k.add(Pipe::V, I{perColumn.tile, src.tile}); }, perColumn, src);
    };
    auto rowSum = byRow(isa::TRowsum{}), rowMax = byRow(isa::TRowmax{}), rowMin = byRow(isa::TRowmin{});
    auto colSum = byCol(isa::TColsum{}), colMax = byCol(isa::TColmax{}), colMin = byCol(isa::TColmin{});
    for (uint32_t r = 0; r < s.validRows; ++r) {
      double sum = 0, magnitude = 0;
      T most = src.values[r * s.cols], least = most;
      for (uint32_t c = 0; c < s.validCols; ++c) {
        T x = src.values[r * s.cols + c];
        sum += double(x), magnitude += std::fabs(double(x)), most = std::max(most, x), least = std::min(least, x);
      }
      // f16 is accumulated in f32 and rounded once.
      double tolerance = std::is_integral_v<T> ? 0 : magnitude * 2e-6 + (sizeof(T) == 2 ? std::fabs(sum) * 0x1p-11 : 0);
      ASSERT_NEAR(double(rowSum[r]), sum, tolerance);
      ASSERT_EQ(rowMax[r], most);
      ASSERT_EQ(rowMin[r], least);
    }
    for (uint32_t c = 0; c < s.cols; ++c) {
      if (c >= s.validCols) {
        ASSERT_EQ(colSum[c], perColumn.values[c]);
        continue;
      }
      T sum = src.values[c], most = sum, least = sum;
      for (uint32_t r = 1; r < s.validRows; ++r) {
        T x = src.values[r * s.cols + c];
        sum = rounded(sum, x, [](auto a, auto b) { return a + b; }), most = std::max(most, x),
        least = std::min(least, x);
      }
      ASSERT_EQ(colSum[c], sum); // ascending rows, rounded at every step
      ASSERT_EQ(colMax[c], most);
      ASSERT_EQ(colMin[c], least);
    }
  }
}

TYPED_TEST(TileFunctions, CompareAndSelect) {
  using T = typename TypeParam::type;
  TestDevice device;
  using M = isa::CompareMode;
  for (const TileShape &s : shapes) {
    Operand<T> dst = operand<T>(0, s), a = operand<T>(1, s), b = operand<T>(2, s);
    for (size_t i = 0; i < a.values.size(); i += 3)
      b.values[i] = a.values[i];
    Operand<uint8_t> mask{std::vector<uint8_t>(size_t(s.rows) * 64, 0xa5),
                          tile(isa::ElementType::u8, Layout::ND, place[3], s.rows, 64)};
    uint32_t usedBytes = (s.validCols + 7u) / 8;
    for (M mode : {M::eq, M::ne, M::lt, M::le, M::gt, M::ge}) {
      auto bits = runVector(
          device, [&](TestKernel &k) { k.add(Pipe::V, isa::TCmp{mask.tile, a.tile, b.tile, mode}); }, mask, a, b);
      auto chosen = runVector(
          device,
          [&](TestKernel &k) {
            k.add(Pipe::V, isa::TCmp{mask.tile, a.tile, b.tile, mode})
                .add(Pipe::V, isa::TSel{dst.tile, mask.tile, a.tile, b.tile});
          },
          dst, a, b, mask);
      for (uint32_t r = 0; r < s.rows; ++r) {
        for (uint32_t byte = 0; byte < 64; ++byte) {
          unsigned expected = 0xa5;
          if (r < s.validRows && byte < usedBytes) {
            expected = 0;
            for (uint32_t c = byte * 8; c < std::min<uint32_t>(byte * 8 + 8, s.validCols); ++c) {
              T x = a.values[r * s.cols + c], y = b.values[r * s.cols + c];
              bool hit = mode == M::eq   ? x == y
                         : mode == M::ne ? x != y
                         : mode == M::lt ? x < y
                         : mode == M::le ? x <= y
                         : mode == M::gt ? x > y
                                         : x >= y;
              expected |= unsigned(hit) << (c % 8);
            }
          }
          ASSERT_EQ(bits[r * 64 + byte], expected) << r << " byte " << byte;
        }
        for (uint32_t c = 0; c < s.cols; ++c) {
          size_t i = r * s.cols + c;
          T expected = dst.values[i];
          if (r < s.validRows && c < s.validCols)
            expected = bits[r * 64 + c / 8] >> (c % 8) & 1 ? a.values[i] : b.values[i];
          ASSERT_TRUE(sameBits(chosen[i], expected));
        }
      }
    }
  }
}

template <class D, class S, class F>
void checkConvert(isa::RoundMode mode, bool saturate, const std::vector<S> &values, F reference) {
  TestDevice device;
  std::vector<S> padded(values);
  padded.resize((values.size() + 31) / 32 * 32);
  uint16_t n = uint16_t(padded.size());
  Operand<D> dst{std::vector<D>(n), tile(typeOf<D>(), Layout::ND, 0, 1, n, 1, int64_t(values.size()))};
  Operand<S> src{padded, tile(typeOf<S>(), Layout::ND, 65536, 1, n, 1, int64_t(values.size()))};
  auto result = runVector(
      device,
      [&](TestKernel &k) {
        isa::TCvt cvt;
        cvt.dst = dst.tile, cvt.src = src.tile, cvt.rounding = mode,
        cvt.saturate = saturate ? isa::Switch::on : isa::Switch::off;
        k.add(Pipe::V, cvt);
      },
      dst, src);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_TRUE(sameBits(result[i], D(reference(values[i])))) << double(values[i]) << " -> " << double(result[i]);
}

TEST(Convert, Rounding) {
  using M = isa::RoundMode;
  const std::vector<float> halves{2.5f, 3.5f, -2.5f, 0.5f, 2.25f, -2.75f};
  struct Row {
    M mode;
    int expected[6];
  } rows[] = {{M::none, {2, 3, -2, 0, 2, -2}},  {M::rint, {2, 4, -2, 0, 2, -3}}, {M::round, {3, 4, -3, 1, 2, -3}},
              {M::floor, {2, 3, -3, 0, 2, -3}}, {M::ceil, {3, 4, -2, 1, 3, -2}}, {M::trunc, {2, 3, -2, 0, 2, -2}},
              {M::odd, {3, 3, -3, 1, 3, -3}}};
  for (const Row &row : rows) {
    auto expected = [&](float x) { return row.expected[std::find(halves.begin(), halves.end(), x) - halves.begin()]; };
    checkConvert<int32_t, float>(row.mode, false, halves, expected);
    checkConvert<int16_t, float>(row.mode, true, halves, expected);
    if (row.mode != M::none)
      checkConvert<float, float>(row.mode, false, halves,
                                 [&](float x) { return std::copysign(float(expected(x)), x); });
  }
  checkConvert<float, float>(M::none, false, halves, [](float x) { return x; });
}

TEST(Convert, Ranges) {
  using M = isa::RoundMode;
  const float inf = INFINITY;
  checkConvert<int32_t, float>(M::rint, false, {3e9f, -3e9f, inf, NAN},
                               [](float) { return std::numeric_limits<int32_t>::min(); });
  checkConvert<int32_t, float>(M::rint, true, {3e9f, inf, NAN},
                               [](float) { return std::numeric_limits<int32_t>::max(); });
  checkConvert<int32_t, float>(M::rint, true, {-3e9f, -inf}, [](float) { return std::numeric_limits<int32_t>::min(); });
  checkConvert<int16_t, float>(M::rint, false, {40000.0f}, [](float) { return int16_t(40000 - 65536); });
  checkConvert<int8_t, half>(M::rint, true, {half(200), half(-200)}, [](half x) { return x > half(0) ? 127 : -128; });
  checkConvert<uint8_t, half>(M::rint, true, {half(300), half(-1), half(7.5f)}, [](half x) {
    return x < half(0) ? 0 : x > half(255) ? 255 : 8;
  });
  checkConvert<half, float>(M::none, false, {1e6f, 0.1f, 65519.0f}, [](float x) { return half(x); });
  checkConvert<half, float>(M::none, true, {1e6f, inf}, [](float) { return 65504.0f; });
  checkConvert<float, half>(M::none, false, {half(0.1f), half(6e-8f), half(-65504.0f)},
                            [](half x) { return float(x); });
  checkConvert<float, int32_t>(M::none, false, {16777217, -5, 0}, [](int32_t x) { return float(x); });
  checkConvert<half, int16_t>(M::none, false, {2049, -5}, [](int16_t x) { return half(x); });
  checkConvert<int16_t, int32_t>(M::none, true, {70000, -70000, 5},
                                 [](int32_t x) { return std::clamp(x, -32768, 32767); });
  checkConvert<int64_t, int32_t>(M::none, false, {-7, 1 << 30}, [](int32_t x) { return int64_t(x); });
}

TYPED_TEST(TileFunctions, TransposePadMoveFill) {
  using T = typename TypeParam::type;
  TestDevice device;
  for (const TileShape &s : {TileShape{48, 16, 41, 3}, TileShape{16, 64, 13, 64}, TileShape{16, 16, 1, 1}}) {
    Operand<T> src = operand<T>(1, s);
    TileShape t{uint16_t(s.cols), uint16_t((s.rows + 15) / 16 * 16), s.validCols, s.validRows};
    Operand<T> dst = operand<T>(0, t);
    auto turned = runVector(device, [&](TestKernel &k) { k.add(Pipe::V, isa::TTrans{dst.tile, src.tile}); }, dst, src);
    for (size_t r = 0, i = 0; r < t.rows; ++r)
      for (size_t c = 0; c < t.cols; ++c, ++i)
        ASSERT_EQ(turned[i], r < t.validRows && c < t.validCols ? src.values[c * s.cols + r] : dst.values[i]);
    for (isa::Pad pad : {isa::Pad::null, isa::Pad::zero, isa::Pad::min, isa::Pad::max}) {
      Operand<T> full = operand<T>(0, {s.rows, s.cols, s.rows, s.cols});
      full.tile.pad = pad;
      auto padded =
          runVector(device, [&](TestKernel &k) { k.add(Pipe::V, isa::TFillpad{full.tile, src.tile}); }, full, src);
      T value = 0;
      if (pad == isa::Pad::min || pad == isa::Pad::max) {
        if constexpr (std::is_integral_v<T>)
          value = pad == isa::Pad::max ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
        else
          value = T(pad == isa::Pad::max ? INFINITY : -INFINITY);
      }
      for (size_t r = 0, i = 0; r < s.rows; ++r)
        for (size_t c = 0; c < s.cols; ++c, ++i)
          ASSERT_EQ(padded[i], r < s.validRows && c < s.validCols ? src.values[i] : value);
    }
    Operand<T> same = operand<T>(2, s);
    auto moved = runVector(device, [&](TestKernel &k) { k.add(Pipe::V, isa::TMov{same.tile, src.tile}); }, same, src);
    auto filled = runVector(device, [&](TestKernel &k) { k.add(Pipe::V, isa::TExpands{same.tile, 0}); }, same);
    for (size_t r = 0, i = 0; r < s.rows; ++r)
      for (size_t c = 0; c < s.cols; ++c, ++i) {
        bool valid = r < s.validRows && c < s.validCols;
        ASSERT_EQ(moved[i], valid ? src.values[i] : same.values[i]);
        ASSERT_EQ(filled[i], valid ? T(0) : same.values[i]);
      }
  }
}

} // namespace
