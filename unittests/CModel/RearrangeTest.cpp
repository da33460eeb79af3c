// Gather, scatter, sorting, argument reductions, sequences, quantisation and scalar accesses, compared with plain loops
// over whole matrices.
#include "VectorHarness.h"

#include <algorithm>
#include <numeric>

using namespace pto_mlir;
using namespace pto_mlir::cmodel::test;
using isa::ElementType;
using isa::Layout;
using isa::Pipe;

namespace {

constexpr uint32_t place[] = {0, 32768, 65536, 98304};

template <class T> Operand<T> operand(int i, const TileShape &s) {
  return {randomValues<T>(size_t(s.rows) * s.cols, i + 1),
          tile(typeOf<T>(), Layout::ND, place[i], s.rows, s.cols, s.validRows, s.validCols)};
}
Operand<int32_t> indices(int i, const TileShape &s, uint32_t below) {
  Operand<int32_t> o = operand<int32_t>(i, s);
  std::mt19937 random(9);
  for (int32_t &v : o.values)
    v = int32_t(random() % below);
  return o;
}

template <class T> struct Rearrange : testing::Test {};
using Words = testing::Types<Tag<float>, Tag<half>, Tag<int16_t>, Tag<int32_t>>;
TYPED_TEST_SUITE(Rearrange, Words);

TYPED_TEST(Rearrange, GatherByIndex) {
  using T = typename TypeParam::type;
  TestDevice device;
  for (const TileShape &s : shapes) {
    Operand<T> dst = operand<T>(0, s), src = operand<T>(1, {6, 32, 6, 32});
    Operand<int32_t> index = indices(2, {s.rows, s.cols, s.validRows, s.validCols}, 200); // of 192 elements
    auto got = runVector(
        device, [&](TestKernel &k) { k.add(Pipe::V, isa::TGather{dst.tile, src.tile, index.tile}); }, dst, src, index);
    for (size_t i = 0; i < got.size(); ++i) {
      bool valid = i / s.cols < s.validRows && i % s.cols < s.validCols;
      T expected = !valid ? dst.values[i] : index.values[i] < 192 ? src.values[size_t(index.values[i])] : T(0);
      ASSERT_TRUE(sameBits(got[i], expected)) << i;
    }
  }
}

TYPED_TEST(Rearrange, GatherByPattern) {
  using T = typename TypeParam::type;
  TestDevice device;
  Operand<T> dst = operand<T>(0, {6, 64, 6, 64}), src = operand<T>(1, {5, 64, 5, 50});
  std::vector<int> picks[] = {{0, 2}, {1, 3}, {0}, {1}, {2}, {3}, {0, 1, 2, 3}};
  for (uint32_t pattern = 0; pattern < 7; ++pattern) {
    std::vector<T> expected = dst.values;
    size_t to = 0;
    for (size_t r = 0; r < 5; ++r)
      for (size_t c = 0; c < 50; ++c)
        if (std::count(picks[pattern].begin(), picks[pattern].end(), int(c % 4)))
          expected[to++] = src.values[r * 64 + c];
    auto got = runVector(
        device, [&](TestKernel &k) { k.add(Pipe::V, isa::TGatherMask{dst.tile, src.tile, isa::MaskPattern(pattern)}); },
        dst, src);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_TRUE(sameBits(got[i], expected[i])) << pattern << " " << i;
  }
}

TYPED_TEST(Rearrange, Scatter) {
  using T = typename TypeParam::type;
  TestDevice device;
  Operand<T> dst = operand<T>(0, {6, 32, 6, 32}), src = operand<T>(1, {5, 48, 5, 41});
  Operand<int32_t> index = indices(2, {5, 48, 5, 41}, 192);
  std::vector<T> expected = dst.values;
  for (size_t r = 0; r < 5; ++r)
    for (size_t c = 0; c < 41; ++c)
      expected[size_t(index.values[r * 48 + c])] = src.values[r * 48 + c];
  auto got = runVector(
      device, [&](TestKernel &k) { k.add(Pipe::V, isa::TScatter{dst.tile, src.tile, index.tile}); }, dst, src, index);
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_TRUE(sameBits(got[i], expected[i])) << i;
}

TYPED_TEST(Rearrange, PartsOfDifferentShape) {
  using T = typename TypeParam::type;
  TestDevice device;
  Operand<T> dst = operand<T>(0, {6, 64, 6, 50}), a = operand<T>(1, {6, 64, 4, 50}), b = operand<T>(2, {6, 64, 5, 33});
  auto got =
      runVector(device, [&](TestKernel &k) { k.add(Pipe::V, isa::TPartmax{dst.tile, a.tile, b.tile}); }, dst, a, b);
  auto sum =
      runVector(device, [&](TestKernel &k) { k.add(Pipe::V, isa::TPartadd{dst.tile, a.tile, b.tile}); }, dst, a, b);
  for (size_t i = 0; i < got.size(); ++i) {
    size_t r = i / 64, c = i % 64;
    bool inA = r < 4 && c < 50, inB = r < 5 && c < 33, valid = r < 6 && c < 50;
    T x = a.values[i], y = b.values[i];
    T total = std::is_integral_v<T> ? T(int64_t(x) + int64_t(y)) : T(float(x) + float(y));
    ASSERT_TRUE(sameBits(got[i], !valid ? dst.values[i] : inA && inB ? std::max(x, y) : inA ? x : inB ? y : T(0))) << i;
    ASSERT_TRUE(sameBits(sum[i], !valid ? dst.values[i] : inA && inB ? total : inA ? x : inB ? y : T(0))) << i;
  }
}

TEST(Rearrange, GatherBlocks) {
  TestDevice device;
  Operand<float> dst = operand<float>(0, {4, 32, 3, 28}), src = operand<float>(1, {5, 16, 5, 16});
  Operand<int32_t> offsets = operand<int32_t>(2, {4, 8, 4, 8});
  for (size_t i = 0; i < offsets.values.size(); ++i)
    offsets.values[i] = int32_t(i * 52 % 400) / 4 * 4; // bytes; src has 320
  auto got = runVector(
      device, [&](TestKernel &k) { k.add(Pipe::V, isa::TGatherb{dst.tile, src.tile, offsets.tile}); }, dst, src,
      offsets);
  std::vector<float> expected = dst.values;
  for (size_t r = 0; r < 3; ++r)
    for (size_t c = 0; c < 28; ++c) {
      size_t from = size_t(offsets.values[r * 8 + c / 8]), bytes = c / 8 == 3 ? 16 : 32;
      if (from + bytes <= 320)
        expected[r * 32 + c] = src.values[from / 4 + c % 8];
    }
  EXPECT_EQ(got, expected);
}

TEST(Sort, ThirtyTwoAtATimeThenMerged) {
  TestDevice device;
  constexpr size_t n = 128;
  Operand<float> dst{std::vector<float>(2 * n, -1), tile(ElementType::f32, Layout::ND, place[0], 1, 2 * n)};
  Operand<float> src = operand<float>(1, {1, n, 1, n});
  for (float &v : src.values)
    v = std::round(v * 4); // with ties
  Operand<int32_t> index = operand<int32_t>(2, {1, n, 1, n});
  std::iota(index.values.begin(), index.values.end(), 7);
  auto sortOf = [&](size_t from, size_t count) {
    std::vector<std::pair<float, int32_t>> records;
    for (size_t i = from; i < from + count; ++i)
      records.push_back({-src.values[i], index.values[i]});
    std::sort(records.begin(), records.end());
    return records;
  };
  auto check = [&](const std::vector<float> &got, size_t block) {
    for (size_t from = 0; from < n; from += block) {
      auto expected = sortOf(from, block);
      for (size_t i = 0; i < block; ++i) {
        int32_t at;
        std::memcpy(&at, &got[2 * (from + i) + 1], 4);
        ASSERT_EQ(got[2 * (from + i)], -expected[i].first) << from + i;
        ASSERT_EQ(at, expected[i].second) << from + i;
      }
    }
  };
  check(runVector(
            device, [&](TestKernel &k) { k.add(Pipe::V, isa::TSort32{dst.tile, src.tile, index.tile}); }, dst, src,
            index),
        32);
  isa::Tile sorted = dst.tile;
  sorted.address = place[3];
  check(runVector(
            device,
            [&](TestKernel &k) {
              k.add(Pipe::V, isa::TSort32{sorted, src.tile, index.tile})
                  .add(Pipe::V, isa::TMrgsort{dst.tile, sorted, 64});
            },
            dst, src, index),
        n);
}

TEST(Reduce, WhereTheBestElementIs) {
  TestDevice device;
  for (const TileShape &s : shapes) {
    Operand<float> src = operand<float>(1, s);
    for (float &v : src.values)
      v = std::round(v * 2);
    Operand<int32_t> perRow{std::vector<int32_t>(16, -5),
                            tile(ElementType::i32, Layout::DN, place[0], 16, 1, s.validRows, 1)};
    Operand<int32_t> perColumn = operand<int32_t>(0, {1, s.cols, 1, s.validCols});
    auto rowBest = [&](size_t r, bool greatest) {
      auto first = src.values.begin() + ptrdiff_t(r * s.cols), last = first + s.validCols;
      return int32_t((greatest ? std::max_element(first, last) : std::min_element(first, last)) - first);
    };
    auto rows =
        runVector(device, [&](TestKernel &k) { k.add(Pipe::V, isa::TRowargmax{perRow.tile, src.tile}); }, perRow, src);
    auto least =
        runVector(device, [&](TestKernel &k) { k.add(Pipe::V, isa::TRowargmin{perRow.tile, src.tile}); }, perRow, src);
    for (size_t r = 0; r < 16; ++r) {
      ASSERT_EQ(rows[r], r < s.validRows ? rowBest(r, true) : -5);
      ASSERT_EQ(least[r], r < s.validRows ? rowBest(r, false) : -5);
    }
    auto cols = runVector(
        device, [&](TestKernel &k) { k.add(Pipe::V, isa::TColargmax{perColumn.tile, src.tile}); }, perColumn, src);
    auto lowest = runVector(
        device, [&](TestKernel &k) { k.add(Pipe::V, isa::TColargmin{perColumn.tile, src.tile}); }, perColumn, src);
    for (size_t c = 0; c < s.validCols; ++c) {
      int32_t greatest = 0, smallest = 0;
      for (int32_t r = 0; r < s.validRows; ++r) {
        greatest = src.values[size_t(r) * s.cols + c] > src.values[size_t(greatest) * s.cols + c] ? r : greatest;
        smallest = src.values[size_t(r) * s.cols + c] < src.values[size_t(smallest) * s.cols + c] ? r : smallest;
      }
      ASSERT_EQ(cols[c], greatest);
      ASSERT_EQ(lowest[c], smallest);
    }
  }
}

TEST(Reduce, Products) {
  TestDevice device;
  Operand<float> src = operand<float>(1, {5, 48, 5, 41});
  for (float &v : src.values)
    v = 1 + v / 64;
  Operand<float> perRow{std::vector<float>(8, 9), tile(ElementType::f32, Layout::DN, place[0], 8, 1, 5, 1)},
      perColumn = operand<float>(0, {1, 48, 1, 41});
  auto rows =
      runVector(device, [&](TestKernel &k) { k.add(Pipe::V, isa::TRowprod{perRow.tile, src.tile}); }, perRow, src);
  auto cols = runVector(
      device, [&](TestKernel &k) { k.add(Pipe::V, isa::TColprod{perColumn.tile, src.tile}); }, perColumn, src);
  for (size_t r = 0; r < 5; ++r) {
    float product = src.values[r * 48];
    for (size_t c = 1; c < 41; ++c)
      product *= src.values[r * 48 + c];
    EXPECT_EQ(rows[r], product);
  }
  for (size_t c = 0; c < 41; ++c) {
    float product = src.values[c];
    for (size_t r = 1; r < 5; ++r)
      product *= src.values[r * 48 + c];
    EXPECT_EQ(cols[c], product);
  }
}

TEST(Fill, SequencesAndTriangles) {
  TestDevice device;
  Operand<int32_t> row = operand<int32_t>(0, {1, 64, 1, 50}), square = operand<int32_t>(1, {20, 32, 18, 29});
  auto up = runVector(device, [&](TestKernel &k) { k.add(Pipe::V, isa::TCi{row.tile, 5, isa::Switch::off}); }, row);
  auto down = runVector(device, [&](TestKernel &k) { k.add(Pipe::V, isa::TCi{row.tile, 5, isa::Switch::on}); }, row);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(up[size_t(i)], i < 50 ? 5 + i : row.values[size_t(i)]);
    EXPECT_EQ(down[size_t(i)], i < 50 ? 5 - i : row.values[size_t(i)]);
  }
  for (int diagonal : {-3, 0, 4}) {
    auto lower = runVector(
        device, [&](TestKernel &k) { k.add(Pipe::V, isa::TTri{square.tile, diagonal, isa::Triangle::lower}); }, square);
    auto upper = runVector(
        device, [&](TestKernel &k) { k.add(Pipe::V, isa::TTri{square.tile, diagonal, isa::Triangle::upper}); }, square);
    for (int r = 0; r < 18; ++r)
      for (int c = 0; c < 29; ++c) {
        EXPECT_EQ(lower[size_t(r * 32 + c)], c - r <= diagonal);
        EXPECT_EQ(upper[size_t(r * 32 + c)], c - r >= diagonal);
      }
  }
}

TEST(Quantise, RowsToBytesAndBack) {
  TestDevice device;
  TileShape s{5, 64, 5, 50};
  Operand<float> src = operand<float>(1, s);
  for (float &v : src.values)
    v *= 20;
  Operand<float> perRow{{2.0f, 0.5f, 3.25f, 1.0f, 0, 0, 0, 0},
                        tile(ElementType::f32, Layout::DN, place[2], 8, 1, 4, 1)}; // one too few
  Operand<int8_t> bytes = operand<int8_t>(0, s);
  Operand<uint8_t> unsignedBytes = operand<uint8_t>(0, s);
  auto got = runVector(
      device, [&](TestKernel &k) { k.add(Pipe::V, isa::TQuant{bytes.tile, src.tile, perRow.tile, 0}); }, bytes, src,
      perRow);
  auto shifted = runVector(
      device, [&](TestKernel &k) { k.add(Pipe::V, isa::TQuant{unsignedBytes.tile, src.tile, perRow.tile, 100}); },
      unsignedBytes, src, perRow);
  for (size_t r = 0; r < 5; ++r)
    for (size_t c = 0; c < 50; ++c) {
      float x = src.values[r * 64 + c] * perRow.values[std::min<size_t>(r, 3)];
      ASSERT_EQ(int(got[r * 64 + c]), int(std::clamp(std::nearbyint(x), -128.0f, 127.0f)));
      ASSERT_EQ(int(shifted[r * 64 + c]), int(std::clamp(std::nearbyint(x + 100), 0.0f, 255.0f)));
    }
  Operand<float> back = operand<float>(0, s), scales = operand<float>(2, {5, 8, 5, 1}),
                 offsets = operand<float>(3, {5, 64, 5, 50});
  Operand<int8_t> codes{randomValues<int8_t>(5 * 64, 4), tile(ElementType::i8, Layout::ND, place[1], 5, 64, 5, 50)};
  auto real = runVector(
      device, [&](TestKernel &k) { k.add(Pipe::V, isa::TDequant{back.tile, codes.tile, scales.tile, offsets.tile}); },
      back, codes, scales, offsets);
  for (size_t r = 0; r < 5; ++r)
    for (size_t c = 0; c < 50; ++c)
      ASSERT_EQ(real[r * 64 + c],
                (float(codes.values[r * 64 + c]) - offsets.values[r * 64 + c]) * scales.values[r * 8]);
}

TEST(ScalarAccess, ReadsAndWritesElements) {
  TestDevice device;
  isa::Tile t = tile(ElementType::f16, Layout::ND, 0, 4, 32, 3, 20);
  TestKernel k(isa::CoreKind::AIV, 3);
  isa::TLoad load{t, view(0, ElementType::f16, 4, 32), isa::Memory::UB};
  k.add(Pipe::MTE2, load).sync(Pipe::MTE2, Pipe::S);
  k.add(Pipe::S, isa::TGetval{0, t, 2 * 32 + 5}).add(Pipe::S, isa::TSetval{t, 32 + 7, isa::Value::reg(0)});
  k.add(Pipe::S, isa::TGetval{1, t, 32 + 7});
  isa::View out = view(1, ElementType::f32, 1, 1);
  k.add(Pipe::S, isa::StoreScalar{out, isa::Value::reg(1)});
  std::vector<half> x(128);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = half(float(i) / 8);
  std::vector<pto_arg> args{device.upload(x), device.upload(std::vector<float>(1)), device.upload(x)};
  ASSERT_EQ(device.run(k, args), PTO_OK) << device.error();
  EXPECT_EQ(device.download<float>(args[1])[0], float(2 * 32 + 5) / 8);

  TestKernel outside(isa::CoreKind::AIV, 3);
  outside.add(Pipe::MTE2, load).sync(Pipe::MTE2, Pipe::S).add(Pipe::S, isa::TGetval{0, t, 25});
  EXPECT_EQ(device.run(outside, args), PTO_ERROR_FAULT);
  EXPECT_STREQ(device.fault().kind, "out-of-range");
}

/// The accumulator holds a x b of small integers; it is stored through each kind of descriptor.
TEST(Quantise, AccumulatorsOnTheirWayOut) {
  TestDevice device;
  constexpr int m = 20, n = 24, k = 16;
  std::vector<int8_t> a(m * 32), b(32 * 32);
  std::mt19937 random(3);
  for (int8_t &v : a)
    v = int8_t(int(random() % 21) - 10);
  for (int8_t &v : b)
    v = int8_t(int(random() % 21) - 10);
  auto word = [](float scale, int offset) {
    uint32_t bits;
    std::memcpy(&bits, &scale, 4);
    return uint64_t(bits) | uint64_t(offset & 0x1ff) << 37 | uint64_t(1) << 46;
  };
  std::vector<uint64_t> descriptors(32);
  for (int c = 0; c < 32; ++c)
    descriptors[size_t(c)] = word(0.125f * float(c + 1), c - 12) | 0x1abc; // the low bits of the scale are ignored
  auto build = [&](auto store) {
    TestKernel kernel(isa::CoreKind::AIC, 4);
    isa::Tile la = tile(ElementType::i8, Layout::NZ, 0, 32, 32, m, k),
              lb = tile(ElementType::i8, Layout::NZ, 4096, 32, 32, k, n);
    kernel.add(Pipe::MTE2, isa::TLoad{la, view(0, ElementType::i8, m, k, 32), isa::Memory::L1});
    kernel.add(Pipe::MTE2, isa::TLoad{lb, view(1, ElementType::i8, k, n, 32), isa::Memory::L1});
    kernel.add(Pipe::MTE2, isa::TLoad{tile(ElementType::u64, Layout::ND, 8192, 1, 32), view(2, ElementType::u64, 1, 32),
                                      isa::Memory::L1});
    kernel.sync(Pipe::MTE2, Pipe::MTE1).sync(Pipe::MTE2, Pipe::FIX);
    isa::Tile ta = tile(ElementType::i8, Layout::ZZ, 0, 32, 32, m, k),
              tb = tile(ElementType::i8, Layout::ZN, 0, 32, 32, k, n);
    kernel.add(Pipe::MTE1, isa::TExtractL0a{ta, la, 0, 0}).add(Pipe::MTE1, isa::TExtractL0b{tb, lb, 0, 0});
    kernel.sync(Pipe::MTE1, Pipe::M);
    kernel.add(Pipe::M, isa::TMatmul{tile(ElementType::i32, Layout::NZ16, 0, 32, 32, m, n), ta, tb})
        .sync(Pipe::M, Pipe::FIX);
    isa::Tile scales = tile(ElementType::u64, Layout::ND, 0, 1, 32);
    kernel.add(Pipe::FIX, isa::TMovFb{scales, tile(ElementType::u64, Layout::ND, 8192, 1, 32), 0});
    store(kernel, tile(ElementType::i32, Layout::NZ16, 0, 32, 32, m, n), scales);
    return kernel;
  };
  auto product = [&](int r, int c) {
    int sum = 0;
    for (int i = 0; i < k; ++i)
      sum += a[size_t(r * 32 + i)] * b[size_t(i * 32 + c)];
    return float(sum);
  };
  std::vector<pto_arg> args{device.upload(a), device.upload(b), device.upload(descriptors),
                            device.upload(std::vector<int8_t>(2 * m * n))};
  for (bool relu : {false, true}) {
    auto mode = relu ? isa::ReluMode::relu : isa::ReluMode::none;
    ASSERT_EQ(device.run(build([&](TestKernel &kernel, isa::Tile acc, isa::Tile) {
                           kernel.add(Pipe::FIX,
                                      isa::TStoreAccQuant{view(3, ElementType::i8, m, n), acc, int32_t(word(0.3f, -20)),
                                                          int32_t(word(0.3f, -20) >> 32), mode, isa::AtomicMode::none});
                         }),
                         args),
              PTO_OK)
        << device.error();
    auto bytes = device.download<int8_t>(args[3]);
    ASSERT_EQ(device.run(build([&](TestKernel &kernel, isa::Tile acc, isa::Tile scales) {
                           kernel.add(Pipe::FIX,
                                      isa::TStoreAccQuantv{view(3, ElementType::u8, m, n), acc, scales, mode});
                         }),
                         args),
              PTO_OK)
        << device.error();
    auto perColumn = device.download<uint8_t>(args[3]);
    ASSERT_EQ(device.run(build([&](TestKernel &kernel, isa::Tile acc, isa::Tile scales) {
                           kernel.add(Pipe::FIX,
                                      isa::TStoreAccQuantv{view(3, ElementType::f16, m, n), acc, scales, mode});
                         }),
                         args),
              PTO_OK)
        << device.error();
    auto halves = device.download<half>(args[3]);
    for (int r = 0; r < m; ++r)
      for (int c = 0; c < n; ++c) {
        float one = product(r, c) * 0.3f - 20, own = product(r, c) * (0.125f * float(c + 1)) + float(c - 12);
        if (relu)
          one = std::max(one, 0.0f), own = std::max(own, 0.0f);
        size_t i = size_t(r * n + c);
        ASSERT_EQ(int(bytes[i]), int(std::clamp(std::nearbyint(one), -128.0f, 127.0f))) << r << "," << c;
        ASSERT_EQ(int(perColumn[i]), int(std::clamp(std::nearbyint(own), 0.0f, 255.0f))) << r << "," << c;
        ASSERT_EQ(float(halves[i]), float(half(own))) << r << "," << c;
      }
  }
}

} // namespace
