// The micro-kernel with 8 and with 16 lanes on any host, compared with a plain loop: every panel width, ragged rows.
#include "Cube/MatmulKernel.h"
#include "Cube/Panels.h"
#include "Cube/RowProduct.h"
#include "VectorHarness.h"

using namespace pto_mlir;
using namespace pto_mlir::cmodel;
using namespace pto_mlir::cmodel::test;

namespace {

struct Shape {
  uint32_t rows, depth, cols;
};
const Shape products[] = {{1, 1, 1},    {1, 9, 40},   {3, 8, 17},    {15, 7, 24},
                          {16, 16, 48}, {17, 33, 65}, {33, 24, 100}, {48, 5, 129}};

uint32_t up(uint32_t v, uint32_t to) { return (v + to - 1) / to * to; }

/// `unpacked`: by rowProduct.
template <class C, unsigned Lanes> void checkProduct(const Shape &s, uint32_t step = 8, bool unpacked = false) {
  uint32_t rows = up(s.rows, 16), cols = up(s.cols, 16), depth = up(s.depth, 8);
  auto a = randomValues<C>(size_t(s.rows) * s.depth, 1), b = randomValues<C>(size_t(s.depth) * s.cols, 2),
       bias = randomValues<C>(s.cols, 3);
  std::vector<C> left(size_t(rows) * depth, C(7)), right(size_t(depth) * cols, C(7)), out(size_t(rows) * cols, C(-5));
  for (uint32_t i = 0; i < s.rows; ++i)
    for (uint32_t k = 0; k < s.depth; ++k)
      left[i / 16 * 16 * depth + k / 8 * 128 + i % 16 * 8 + k % 8] = a[i * s.depth + k];
  for (uint32_t k = 0; k < s.depth; ++k)
    for (uint32_t j = 0; j < s.cols; ++j)
      right[k / 8 * 8 * cols + j * 8 + k % 8] = b[k * s.cols + j]; // ZN: boxes of [16 columns][8 rows], adjacent
  LocalTile tile;
  tile.data = reinterpret_cast<uint8_t *>(right.data());
  tile.type = typeOf<C>(), tile.layout = isa::Layout::ZN, tile.bytes = 4;
  tile.rows = depth, tile.cols = cols, tile.validRows = s.depth, tile.validCols = s.cols;
  // Integer tiles are i8; the micro-kernel takes i32 panels.
  MatmulTask<C> task;
  task.rows = s.rows, task.cols = s.cols, task.depth = s.depth, task.step = step;
  task.left = left.data(), task.leftBlockStride = size_t(depth) * 16, task.leftStride = 128;
  PanelCache cache;
  MatmulTask<float> packing;
  packRight<float, float>(packing, cache, tile, Lanes);
  task.panels = reinterpret_cast<const C *>(packing.panels);
  task.dst = out.data(), task.dstRows = rows;
  task.bias = bias.data();
  auto multiply = [&] {
    if constexpr (std::is_same_v<C, float>)
      if (unpacked)
        return rowProduct(task, tile);
    productOfPanels<C, Lanes>(task);
  };
  multiply();
  std::vector<C> first = out;
  task.acc = first.data(), task.accRows = rows, task.bias = nullptr;
  multiply();
  for (uint32_t i = 0; i < rows; ++i)
    for (uint32_t j = 0; j < cols; ++j) {
      C expected = C(-5); // elements outside the valid region are unchanged
      if (i < s.rows && j < s.cols) {
        C sum = bias[j];
        for (int round = 0; round < 2; ++round) // the second product adds to the first
          for (uint32_t from = 0; from < s.depth; from += step) {
            C part = 0;
            for (uint32_t k = from; k < std::min(s.depth, from + step); ++k)
              if constexpr (std::is_same_v<C, float>)
                part = std::fma(a[i * s.depth + k], b[k * s.cols + j], part);
              else
                part = C(uint32_t(part) + uint32_t(a[i * s.depth + k]) * uint32_t(b[k * s.cols + j]));
            sum = C(sum + part);
          }
        expected = sum;
      }
      ASSERT_TRUE(sameBits(out[j / 16 * 16 * rows + i * 16 + j % 16], expected))
          << Lanes << " lanes, " << s.rows << "x" << s.depth << "x" << s.cols << " at " << i << "," << j;
    }
}

TEST(MatmulKernel, EveryPanelWidthAndRaggedRows) {
  for (const Shape &s : products) {
    checkProduct<float, 8>(s);
    checkProduct<float, 16>(s);
    checkProduct<float, 16>(s, 16);
    checkProduct<float, 8>(s, 32);
    checkProduct<int32_t, 8>(s);
    checkProduct<int32_t, 16>(s);
  }
}

TEST(MatmulKernel, ARowTakesTheMatrixAsItIs) {
  for (const Shape &s : {Shape{1, 1, 1}, {1, 8, 8}, {1, 9, 40}, {1, 128, 64}, {1, 203, 33}})
    checkProduct<float, 8>(s, 8, /*unpacked=*/true);
}

TEST(MatmulKernel, ATileIsNewUntilItIsLookedUp) {
  alignas(64) uint8_t memory[2048];
  LocalTile tile;
  tile.data = memory, tile.type = isa::ElementType::f32, tile.layout = isa::Layout::ZN, tile.bytes = 4;
  tile.rows = tile.cols = tile.validRows = tile.validCols = 16;
  LocalTile other = tile;
  other.data += 1024;
  PanelCache cache;
  EXPECT_TRUE(cache.isNew(tile));
  EXPECT_FALSE(cache.isNew(tile));
  EXPECT_FALSE(cache.find(tile).live);
  cache.find(tile).live = true;
  cache.invalidate(other);
  EXPECT_TRUE(cache.find(tile).live);
  cache.invalidate(tile);
  EXPECT_TRUE(cache.isNew(tile));
  EXPECT_FALSE(cache.find(tile).live);
}

TEST(MatmulKernel, PanelsCoverTheColumnsWithoutALonelyVector) {
  for (unsigned lanes : {8u, 16u})
    for (uint32_t cols = 1; cols < 300; ++cols) {
      uint32_t rest = cols;
      for (bool first = true; rest > 0; first = false) {
        uint32_t width = panelVectors(rest, lanes) * lanes;
        EXPECT_TRUE(first || width > lanes) << cols;
        rest -= std::min(rest, width);
      }
    }
}

} // namespace
