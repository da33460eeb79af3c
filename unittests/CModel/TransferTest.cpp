// tload, tstore and moves between layouts; element positions follow the formulas written out below.
#include "VectorHarness.h"

using namespace pto_mlir;
using namespace pto_mlir::cmodel::test;
using isa::Layout;
using isa::Memory;
using isa::Pipe;

namespace {

/// The ISA's layout formulas for 4-byte elements (C0 = 8), written independently.
size_t place32(Layout layout, size_t rows, size_t cols, size_t r, size_t c) {
  switch (layout) {
  case Layout::ND:
    return r * cols + c;
  case Layout::DN:
    return c * rows + r;
  case Layout::NZ:
    return c / 8 * (rows * 8) + r / 16 * 128 + r % 16 * 8 + c % 8;
  case Layout::ZN:
    return r / 8 * (cols * 8) + c / 16 * 128 + c % 16 * 8 + r % 8;
  case Layout::ZZ:
    return r / 16 * (cols * 16) + c / 8 * 128 + r % 16 * 8 + c % 8;
  case Layout::NN:
    return c / 16 * (rows * 16) + r / 8 * 128 + c % 16 * 8 + r % 8;
  case Layout::NZ16:
    return c / 16 * (rows * 16) + r / 16 * 256 + r % 16 * 16 + c % 16;
  }
  return 0;
}

TEST(Layouts, OffsetFormulas) {
  for (Layout layout : {Layout::ND, Layout::DN, Layout::NZ, Layout::ZN, Layout::ZZ, Layout::NN, Layout::NZ16})
    for (size_t r = 0; r < 48; ++r)
      for (size_t c = 0; c < 32; ++c)
        EXPECT_EQ(isa::elementOffset(layout, isa::ElementType::f32, 48, 32, r, c), place32(layout, 48, 32, r, c))
            << int(layout);
}

isa::TStore store(isa::View dst, isa::Tile src, Memory space) {
  isa::TStore s;
  s.dst = dst, s.src = src, s.space = space;
  return s;
}

/// Loads `in` through `view` into `t` (L1 or UB), then stores the raw bytes of the whole tile as one row.
std::vector<float> loadRaw(const std::vector<float> &in, isa::View from, isa::Tile t, Memory space) {
  TestDevice device;
  bool cube = space == Memory::L1;
  TestKernel k(cube ? isa::CoreKind::AIC : isa::CoreKind::AIV, 2);
  isa::Tile raw = tile(isa::ElementType::f32, Layout::ND, 0, t.rows, t.cols);
  // Fill the tile with known bytes first.
  std::vector<float> sentinel(size_t(t.rows) * t.cols, -1.0f);
  k.numArgs = 3;
  k.add(Pipe::MTE2, isa::TLoad{raw, view(2, isa::ElementType::f32, t.rows, t.cols), space});
  k.add(Pipe::MTE2, isa::TLoad{t, from, space}).sync(Pipe::MTE2, Pipe::MTE3);
  k.add(Pipe::MTE3, store(view(1, isa::ElementType::f32, t.rows, t.cols), raw, space));
  std::vector<pto_arg> args{device.upload(in), device.upload(sentinel), device.upload(sentinel)};
  EXPECT_EQ(device.run(k, args), PTO_OK) << device.error();
  return device.download<float>(args[1]);
}

std::vector<float> counting(size_t n) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i)
    v[i] = float(i + 1);
  return v;
}

TEST(Load, NdToNzFillsTheLastGroupWithZeros) {
  for (auto [rows, cols] : {std::pair<int, int>{37, 13}, {48, 16}, {1, 3}}) {
    auto in = counting(rows * cols);
    isa::Tile t = tile(isa::ElementType::f32, Layout::NZ, 0, 48, 16, rows, cols);
    auto raw = loadRaw(in, view(0, isa::ElementType::f32, rows, cols), t, Memory::L1);
    std::vector<float> expected(raw.size(), -1.0f);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < (cols + 7) / 8 * 8; ++c)
        expected[place32(Layout::NZ, 48, 16, r, c)] = c < cols ? in[r * cols + c] : 0.0f;
    EXPECT_EQ(raw, expected);
  }
}

isa::View dnView(int rows, int cols) { // a row-major [cols, rows] matrix, transposed
  isa::View v = view(0, isa::ElementType::f32, rows, cols, 1);
  v.layout = Layout::DN;
  v.strides[1] = rows;
  return v;
}

TEST(Load, DnToZnAndDn) {
  int rows = 13, cols = 37;
  auto in = counting(rows * cols);
  auto raw =
      loadRaw(in, dnView(rows, cols), tile(isa::ElementType::f32, Layout::ZN, 0, 16, 48, rows, cols), Memory::L1);
  auto plain =
      loadRaw(in, dnView(rows, cols), tile(isa::ElementType::f32, Layout::DN, 0, 16, 40, rows, cols), Memory::UB);
  std::vector<float> expected(raw.size(), -1.0f), expectedPlain(plain.size(), -1.0f);
  for (int c = 0; c < cols; ++c) {
    for (int r = 0; r < 16; ++r)
      expected[place32(Layout::ZN, 16, 48, r, c)] = r < rows ? in[c * rows + r] : 0.0f;
    for (int r = 0; r < rows; ++r)
      expectedPlain[place32(Layout::DN, 16, 40, r, c)] = in[c * rows + r];
  }
  EXPECT_EQ(raw, expected);
  EXPECT_EQ(plain, expectedPlain);
}

TEST(Load, ManyDimensionsAndStrides) {
  // [2, 3, 5] of a [4, 6, 8] tensor, every second column, as 6 rows of 5 in UB.
  auto in = counting(4 * 6 * 16);
  isa::View v;
  v.type = isa::ElementType::f32;
  v.rank = 3;
  int64_t sizes[] = {2, 3, 5}, strides[] = {96, 16, 2};
  for (int i = 0; i < 3; ++i)
    v.sizes[i] = sizes[i], v.strides[i] = strides[i];
  v.offset = 12;
  auto raw = loadRaw(in, v, tile(isa::ElementType::f32, Layout::ND, 0, 8, 8, 6, 5), Memory::UB);
  for (int r = 0; r < 8; ++r)
    for (int c = 0; c < 8; ++c)
      EXPECT_EQ(raw[r * 8 + c], r < 6 && c < 5 ? in[3 + r / 3 * 96 + r % 3 * 16 + c * 2] : -1.0f);
}

TEST(Load, NdViewIntoDnTileTransposes) {
  int rows = 9, cols = 5;
  auto in = counting(rows * cols);
  auto raw = loadRaw(in, view(0, isa::ElementType::f32, rows, cols),
                     tile(isa::ElementType::f32, Layout::DN, 0, 16, 8, rows, cols), Memory::UB);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c)
      EXPECT_EQ(raw[c * 16 + r], in[r * cols + c]);
}

TEST(Load, NzToNz) {
  // Two column blocks of 32 rows: [1, 2, 2, 16, 8].
  auto in = counting(32 * 16);
  isa::View v;
  v.type = isa::ElementType::f32;
  v.layout = Layout::NZ;
  v.rank = 5;
  int64_t sizes[] = {1, 2, 2, 16, 8}, strides[] = {512, 256, 128, 8, 1};
  for (int i = 0; i < 5; ++i)
    v.sizes[i] = sizes[i], v.strides[i] = strides[i];
  EXPECT_EQ(loadRaw(in, v, tile(isa::ElementType::f32, Layout::NZ, 0, 32, 16), Memory::L1), in);
}

TEST(Store, StridedViewsAndLayouts) {
  for (Layout layout : {Layout::ND, Layout::DN}) {
    TestDevice device;
    TestKernel k(isa::CoreKind::AIV, 2);
    auto in = counting(16 * 8);
    isa::Tile raw = tile(isa::ElementType::f32, Layout::ND, 0, 16, 8),
              t = tile(isa::ElementType::f32, layout, 0, 16, 8, 11, 5);
    k.add(Pipe::MTE2, isa::TLoad{raw, view(0, isa::ElementType::f32, 16, 8), Memory::UB}).sync(Pipe::MTE2, Pipe::MTE3);
    isa::View out = view(1, isa::ElementType::f32, 11, 5, 20);
    out.strides[1] = 3;
    k.add(Pipe::MTE3, store(out, t, Memory::UB));
    std::vector<pto_arg> args{device.upload(in), device.upload(std::vector<float>(20 * 11, -1.0f))};
    ASSERT_EQ(device.run(k, args), PTO_OK) << device.error();
    auto result = device.download<float>(args[1]);
    std::vector<float> expected(result.size(), -1.0f);
    for (int r = 0; r < 11; ++r)
      for (int c = 0; c < 5; ++c)
        expected[r * 20 + c * 3] = in[place32(layout, 16, 8, r, c)];
    EXPECT_EQ(result, expected);
  }
}

TEST(Extract, AnyOffsetIntoLeftAndRightTiles) {
  // A product with the identity shows the extracted part: C = A[row:, col:] x I.
  for (auto [row, col] : {std::pair<int, int>{0, 0}, {16, 8}, {5, 8}, {3, 5}}) {
    TestDevice device;
    TestKernel k(isa::CoreKind::AIC, 3);
    constexpr int m = 20, n = 16;
    auto in = counting(48 * 32);
    std::vector<float> identity(n * n);
    for (int i = 0; i < n; ++i)
      identity[i * n + i] = 1;
    isa::Tile l1 = tile(isa::ElementType::f32, Layout::NZ, 0, 48, 32),
              l1i = tile(isa::ElementType::f32, Layout::NZ, 65536, n, n);
    isa::Tile a = tile(isa::ElementType::f32, Layout::ZZ, 0, 32, n, m, n),
              b = tile(isa::ElementType::f32, Layout::ZN, 0, n, n);
    isa::Tile c = tile(isa::ElementType::f32, Layout::NZ16, 0, 32, n, m, n);
    k.add(Pipe::MTE2, isa::TLoad{l1, view(0, isa::ElementType::f32, 48, 32), Memory::L1});
    k.add(Pipe::MTE2, isa::TLoad{l1i, view(1, isa::ElementType::f32, n, n), Memory::L1}).sync(Pipe::MTE2, Pipe::MTE1);
    k.add(Pipe::MTE1, isa::TExtractL0a{a, l1, row, col})
        .add(Pipe::MTE1, isa::TExtractL0b{b, l1i, 0, 0})
        .sync(Pipe::MTE1, Pipe::M);
    k.add(Pipe::M, isa::TMatmul{c, a, b}).sync(Pipe::M, Pipe::FIX);
    isa::TStoreAcc out;
    out.dst = view(2, isa::ElementType::f32, m, n), out.src = c;
    k.add(Pipe::FIX, out);
    std::vector<pto_arg> args{device.upload(in), device.upload(identity), device.upload(std::vector<float>(m * n))};
    ASSERT_EQ(device.run(k, args), PTO_OK) << device.error();
    auto result = device.download<float>(args[2]);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j)
        ASSERT_EQ(result[i * n + j], in[(row + i) * 32 + col + j]) << row << "," << col;
  }
}

} // namespace
