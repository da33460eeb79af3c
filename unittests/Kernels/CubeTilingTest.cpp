//===- CubeTilingTest.cpp - Cube tilings over many shapes -----------------===//

#include "pto_mlir/Kernels/CubeTiling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

using namespace pto_mlir::cube;
using pto_mlir::ceilDiv;
using pto_mlir::roundUp;

namespace {

const CubeLimits a3 = *cubeLimits("a3");

/// Checks the invariants of a tiling for any problem.
void expectLegal(const CubeProblem &p, const CubeTiling &t) {
  int64_t c0 = blockChannels(p.inBytes);
  EXPECT_EQ(t.baseM % 16, 0);
  EXPECT_EQ(t.baseN % 16, 0);
  EXPECT_EQ(roundUp(t.blockN, 16), t.baseN);
  if (!p.image)
    EXPECT_EQ(roundUp(t.blockM, 16), t.baseM);
  EXPECT_GE(t.grid.size(), 1);
  EXPECT_LE(t.grid.size(), std::max<int64_t>(1, p.cores));
  // Every core of the grid has work.
  CubeBlocks blocks = countBlocks(p, t);
  auto busy = [](int64_t count, int64_t cores) { return ceilDiv(count, ceilDiv(count, cores)) == cores; };
  EXPECT_TRUE(busy(p.outer, t.grid.outer));
  EXPECT_TRUE(busy(blocks.n, t.grid.n));
  EXPECT_TRUE(busy(blocks.m, t.grid.m));
  EXPECT_EQ(t.baseK % c0, 0);
  EXPECT_LE(2 * t.baseM * t.baseK * p.inBytes, a3.l0a);
  EXPECT_LE(2 * t.baseN * t.baseK * p.inBytes, a3.l0b);
  EXPECT_LE(t.baseM * t.baseN * 4, a3.l0c);
  if (p.bias)
    EXPECT_LE(t.baseN * 4, a3.biasTable);
  EXPECT_LE(l1Bytes(p, t, 1), a3.l1);
  EXPECT_TRUE(t.heldK == 0 || t.heldK == p.k || (t.heldK < p.k && t.heldK % t.panelK == 0));
  EXPECT_EQ(t.heldK > 0, t.rowsOuter && !p.image);
  EXPECT_GE(t.baseK, 1);
  EXPECT_GE(t.panelK, 1);
  if (t.baseK < std::min(t.panelK, p.k)) // steps start at whole boxes
    EXPECT_EQ(t.baseK % 16, 0);
  if (t.panelK < p.k) {
    if (p.patches && p.patches->strips > 1) {
      EXPECT_EQ(t.panelK, p.patches->strip);
      return;
    }
    int64_t taps = p.image ? p.image->h.kernel * p.image->w.kernel : 1;
    EXPECT_EQ(t.panelK % (c0 * taps), 0);
    EXPECT_EQ(t.panelK % 16, 0);
    if (!p.image)
      EXPECT_EQ(t.panelK % t.baseK, 0);
  }
}

TEST(CubeTiling, PlainSweepRespectsEveryLimit) {
  for (unsigned bytes : {1u, 2u, 4u})
    for (int64_t m : {1, 2, 7, 16, 17, 127, 197, 512, 1009, 2304, 4096, 65537})
      for (int64_t n : {1, 2, 8, 17, 31, 64, 197, 1000, 4096})
        for (int64_t k : {1, 3, 8, 31, 64, 197, 257, 4096})
          for (bool bias : {false, true}) {
            CubeProblem p;
            p.m = m, p.n = n, p.k = k, p.inBytes = bytes, p.bias = bias;
            auto t = chooseCubeTiling(p, a3);
            ASSERT_TRUE(t) << m << " " << n << " " << k;
            expectLegal(p, *t);
            EXPECT_LE(l1Bytes(p, *t, 2), a3.l1);
            if (HasFailure())
              FAIL() << m << "x" << n << "x" << k << " bytes " << bytes;
          }
}

TEST(CubeTiling, ImageSweepRespectsEveryLimit) {
  for (unsigned bytes : {2u, 4u})
    for (int64_t size : {1, 5, 13, 48, 224, 1000})
      for (int64_t channels : {1, 3, 17, 64, 512})
        for (int64_t kernel : {1, 3, 7})
          for (int64_t stride : {1, 2, 3})
            for (int64_t features : {2, 17, 512}) {
              ConvImage image;
              image.channels = channels;
              image.h = {size, 0, kernel, stride, 1, kernel / 2, kernel / 2};
              image.h.out = (size + 2 * (kernel / 2) - kernel) / stride + 1;
              image.w = image.h;
              CubeProblem p;
              p.image = image, p.inBytes = bytes, p.bias = true;
              p.m = image.h.out * image.w.out, p.n = features;
              p.k = kernel * kernel * roundUp(channels, 32 / bytes);
              auto t = chooseCubeTiling(p, a3);
              ASSERT_TRUE(t);
              expectLegal(p, *t);
              EXPECT_GE(t->slabRows, 1);
              EXPECT_LE(t->slabRows, image.h.out);
              EXPECT_TRUE(t->slabCols == image.w.out || t->slabRows == 1);
              EXPECT_LE(t->blockM, t->slabRows * t->slabCols);
              if (HasFailure())
                FAIL() << size << " " << channels << " " << kernel << " " << stride << " " << features;
            }
}

TEST(CubeTiling, SmallShapesAreOneTile) {
  CubeProblem p;
  p.m = 24, p.n = 20, p.k = 29;
  auto t = chooseCubeTiling(p, a3);
  ASSERT_TRUE(t);
  EXPECT_EQ(t->baseM, 32);
  EXPECT_EQ(t->baseN, 32);
  EXPECT_EQ(t->baseK, 32);
}

TEST(CubeTiling, LargeShapesUseLargeTiles) {
  CubeProblem p;
  p.m = p.n = p.k = 4096, p.inBytes = p.outBytes = 2, p.cores = 24;
  auto t = chooseCubeTiling(p, a3);
  ASSERT_TRUE(t);
  EXPECT_GE(t->baseM * t->baseN, 128 * 128);
  EXPECT_GE(t->panelK, t->baseK);
}

CubeProblem matmul(int64_t m, int64_t n, int64_t k, int64_t outer = 1) {
  CubeProblem p;
  p.m = m, p.n = n, p.k = k, p.outer = outer, p.bias = outer == 1;
  return p;
}

TEST(CubeTiling, FewRowsTakeSmallerBlocksOfTheSameTiles) {
  for (int64_t n : {17, 384, 1536, 3072})
    for (int64_t k : {64, 384, 1536})
      for (bool follows : {false, true}) {
        CubeProblem p = matmul(4096, n, k);
        p.inBytes = p.outBytes = 2, p.cores = 24;
        auto t = chooseCubeTiling(p, a3);
        ASSERT_TRUE(t);
        const Follower follower{400, 0.01};
        std::vector<FewRows> few = chooseFewRows(p, a3, *t, follows ? &follower : nullptr);
        EXPECT_TRUE(follows || !few.empty());
        int64_t before = 0;
        for (const FewRows &blocks : few) {
          EXPECT_GT(blocks.rows, before);
          before = blocks.rows;
          EXPECT_LE(blocks.blockM, t->blockM);
          EXPECT_LE(blocks.blockN, t->blockN);
          if (follows)
            EXPECT_EQ(blocks.blockN, t->blockN);
          EXPECT_GE(blocks.gridM, 1);
          EXPECT_LE(blocks.gridM, p.cores);
        }
        EXPECT_LT(before, p.m);
        // With few rows no fewer cores have work than with the blocks of all rows.
        for (const FewRows &blocks : few)
          EXPECT_GE(ceilDiv(blocks.rows, blocks.blockM) * ceilDiv(n, blocks.blockN),
                    ceilDiv(blocks.rows, t->blockM) * ceilDiv(n, t->blockN));
      }
}

TEST(CubeTiling, SmallNumbersOfRowsKeepBlocksOfTheirOwn) {
  CubeProblem p = matmul(4096, 384, 1536);
  p.inBytes = p.outBytes = 2, p.cores = 24;
  std::vector<FewRows> few = chooseFewRows(p, a3, *chooseCubeTiling(p, a3), nullptr);
  ASSERT_FALSE(few.empty());
  EXPECT_LE(few.size(), 6u);
  EXPECT_LE(few.front().rows, 128);
  for (size_t i = 1; i < few.size(); ++i)
    EXPECT_GE(few[i].blockM * few[i].blockN, few.front().blockM * few.front().blockN);
}

TEST(CubeTiling, TilesForAllNumbersOfRowsSuitFewOnes) {
  // With one block of columns for many rows, few rows leave most cores without work.
  CubeProblem p = matmul(4096, 1536, 384);
  p.inBytes = p.outBytes = 2, p.cores = 24;
  const Follower follower{400, 0.1};
  std::vector<CubeTiling> ranked = rankCubeTilings(p, a3, kSizedFinalists);
  ASSERT_GT(ranked.size(), kFinalists);
  std::vector<std::vector<double>> logs;
  for (const CubeTiling &tiling : ranked)
    logs.push_back(logCyclesByRows(p, a3, tiling, &follower));
  std::vector<double> cycles = compareForAllRows(logs);
  size_t best = std::min_element(cycles.begin(), cycles.end()) - cycles.begin();
  EXPECT_LT(cycles[best], 0.95 * cycles.front());
  EXPECT_LT(ranked[best].blockN, ranked.front().blockN);
  // One row has one number of rows.
  CubeProblem row = matmul(1, 384, 384);
  CubeTiling one = *chooseCubeTiling(row, a3);
  std::vector<double> alone = logCyclesByRows(row, a3, one, nullptr);
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_NEAR(std::exp(alone.front()), expectedCycles(row, one, a3, hasOneAccumulator(one, a3)).all, 1e-6);
}

TEST(CubeTiling, TilesForAllNumbersOfRowsAreComparedByTheirGreatestLoss) {
  // The second tiling is the better one on average, the first one never loses as much.
  const std::vector<std::vector<double>> logs = {{4, 3, 2.3}, {4.4, 2.7, 2}};
  std::vector<double> cycles = compareForAllRows(logs);
  ASSERT_EQ(cycles.size(), 2u);
  EXPECT_NEAR(std::log(cycles[0]), (4 + 2.7 + 2) / 3 + 0.3, 1e-12);
  EXPECT_NEAR(std::log(cycles[1]), (4 + 2.7 + 2) / 3 + 0.4, 1e-12);
}

TEST(CubeTiling, FinalistsDiffer) {
  // Several grids of 24 cores give these rows and columns one tiling.
  CubeProblem p{.m = 4096, .n = 1152, .k = 384, .inBytes = 2, .outBytes = 2, .bias = true, .cores = 24};
  auto parts = [](const CubeTiling &t) {
    return std::tuple(t.blockM, t.blockN, t.baseK, t.panelK, t.rowsOuter, t.holdB, t.heldK, t.grid.m, t.grid.n);
  };
  std::vector<CubeTiling> finalists = rankCubeTilings(p, a3, 12);
  EXPECT_GE(finalists.size(), 4u);
  for (size_t i = 0; i < finalists.size(); ++i) {
    expectLegal(p, finalists[i]);
    for (size_t j = 0; j < i; ++j)
      EXPECT_NE(parts(finalists[i]), parts(finalists[j])) << i << " and " << j;
  }
}

TEST(CubeTiling, OneCoreSharesNothing) {
  CubeProblem p = matmul(4096, 384, 384);
  EXPECT_TRUE(chooseFewRows(p, a3, *chooseCubeTiling(p, a3), nullptr).empty());
}

/// A square image, padded so that only the stride reduces its size.
CubeProblem convolution(int64_t size, int64_t channels, int64_t features, int64_t kernel, int64_t stride, int64_t pad) {
  ConvImage image;
  image.channels = channels;
  image.h = {size, 0, kernel, stride, 1, pad, pad};
  image.h.out = (size + 2 * pad - kernel) / stride + 1;
  image.w = image.h;
  CubeProblem p = matmul(image.h.out * image.w.out, features, 0);
  p.image = image;
  return p;
}

/// Non-overlapping windows in a square image.
CubeProblem patchify(int64_t size, int64_t channels, int64_t features, int64_t kernel, int64_t stride) {
  ConvPatches patches;
  patches.width = size / stride;
  patches.strips = kernel;
  patches.strip = kernel * channels;
  CubeProblem p = matmul(patches.width * patches.width, features, kernel * patches.strip);
  p.patches = patches;
  return p;
}

/// The layers of ResNet-50, MobileNetV2, ViT-B/16, MiniLM and PP-OCR with at
/// least 20 million multiplications.
std::vector<CubeProblem> largeLayers() {
  return {
      // ResNet-50
      convolution(224, 3, 64, 7, 2, 3), matmul(3136, 64, 256), matmul(3136, 256, 64), convolution(56, 64, 64, 3, 1, 1),
      matmul(3136, 128, 256), convolution(56, 128, 128, 3, 2, 1), patchify(56, 256, 512, 1, 2), matmul(784, 512, 128),
      matmul(784, 128, 512), convolution(28, 128, 128, 3, 1, 1), matmul(784, 256, 512),
      convolution(28, 256, 256, 3, 2, 1), patchify(28, 512, 1024, 1, 2), matmul(196, 1024, 256), matmul(196, 256, 1024),
      convolution(14, 256, 256, 3, 1, 1), matmul(196, 512, 1024), convolution(14, 512, 512, 3, 2, 1),
      patchify(14, 1024, 2048, 1, 2), matmul(49, 2048, 512), matmul(49, 512, 2048), convolution(7, 512, 512, 3, 1, 1),
      // MobileNetV2
      matmul(12544, 96, 16), matmul(49, 1280, 320),
      // ViT-B/16
      patchify(224, 3, 768, 16, 16), matmul(197, 2304, 768), matmul(197, 768, 768), matmul(197, 3072, 768),
      matmul(197, 768, 3072), matmul(197, 197, 64, 12), matmul(197, 64, 197, 12),
      // MiniLM, batch 1 and 4
      matmul(128, 1536, 384), matmul(128, 384, 1536), matmul(512, 384, 384), matmul(512, 1536, 384),
      matmul(512, 384, 1536), matmul(128, 128, 32, 48), matmul(128, 32, 128, 48),
      // PP-OCR
      convolution(640, 3, 16, 3, 2, 1), matmul(102400, 32, 16), matmul(25600, 48, 32), matmul(25600, 48, 48),
      matmul(6400, 96, 48), matmul(6400, 96, 96), matmul(1600, 192, 192), matmul(400, 384, 384), matmul(400, 360, 384),
      convolution(160, 96, 24, 3, 1, 1), convolution(80, 96, 24, 3, 1, 1), convolution(40, 96, 24, 3, 1, 1),
      matmul(1920, 128, 128), matmul(960, 240, 240), matmul(480, 480, 480), matmul(240, 480, 480)};
}

/// Calls `check` for every large layer in f32 and f16, with its tiling.
template <typename Check> void forLargeLayers(int64_t cores, Check check) {
  for (CubeProblem p : largeLayers())
    for (unsigned bytes : {4u, 2u}) {
      p.inBytes = p.outBytes = bytes, p.cores = cores;
      if (p.image)
        p.k = p.image->h.kernel * p.image->w.kernel * roundUp(p.image->channels, blockChannels(bytes));
      auto t = chooseCubeTiling(p, a3);
      ASSERT_TRUE(t);
      expectLegal(p, *t);
      check(p, *t);
      if (testing::Test::HasFailure())
        FAIL() << p.outer << " of " << p.m << "x" << p.n << "x" << p.k << " bytes " << bytes << " cores " << cores;
    }
}

TEST(CubeTiling, PartOfLongRowsStaysInL1) {
  // 197 rows of 768 floats are 591 KiB: two blocks of rows stay whole. Of rows of 3072 only a part fits beside the
  // panels.
  CubeProblem p;
  p.m = 197;
  p.k = 768;
  p.n = 2304;
  auto t = chooseCubeTiling(p, a3);
  ASSERT_TRUE(t);
  EXPECT_LE(countBlocks(p, *t).m, 2);
  EXPECT_GE(t->heldK, 512);
  p.k = 3072;
  t = chooseCubeTiling(p, a3);
  ASSERT_TRUE(t);
  EXPECT_GT(t->heldK, 0);
  EXPECT_LT(t->heldK, p.k);
}

TEST(CubeTiling, LargeLayersAreEvenOverTheCores) {
  for (int64_t cores : {1, 2, 24})
    forLargeLayers(cores, [](const CubeProblem &p, const CubeTiling &t) { EXPECT_LE(imbalance(p, t), 1.15); });
}

/// The number of cores must not change how K is split: sums run over the same
/// parts of K in the same order, so results are bit-identical.
TEST(CubeTiling, CoresDoNotChangeHowKIsCut) {
  for (int64_t cores : {2, 3, 24})
    forLargeLayers(cores, [](CubeProblem p, const CubeTiling &t) {
      p.cores = 1;
      auto alone = chooseCubeTiling(p, a3);
      ASSERT_TRUE(alone);
      EXPECT_EQ(t.panelK, alone->panelK);
      EXPECT_EQ(t.baseK, alone->baseK);
    });
}

TEST(CubeTiling, ManyCoresSweepRespectsEveryLimit) {
  for (int64_t cores : {2, 7, 24})
    for (unsigned bytes : {2u, 4u})
      for (int64_t outer : {1, 5, 48})
        for (int64_t m : {1, 17, 197, 2304})
          for (int64_t n : {1, 24, 1000})
            for (int64_t k : {1, 64, 257, 4096}) {
              CubeProblem p = matmul(m, n, k, outer);
              p.inBytes = bytes, p.cores = cores;
              auto t = chooseCubeTiling(p, a3);
              ASSERT_TRUE(t);
              expectLegal(p, *t);
              if (HasFailure())
                FAIL() << outer << " of " << m << "x" << n << "x" << k;
            }
}

TEST(CubeTiling, ImageTooWideForL1IsCutInsideARow) {
  CubeProblem p;
  ConvImage image;
  image.channels = 8;
  image.h = {7, 1, 7, 1, 1, 0, 0};
  image.w = {8192, 8186, 7, 1, 1, 0, 0};
  p.image = image, p.m = 8186, p.n = 16, p.k = 49 * 8;
  auto t = chooseCubeTiling(p, a3);
  ASSERT_TRUE(t);
  expectLegal(p, *t);
  EXPECT_LT(t->slabCols, image.w.out);
  EXPECT_EQ(t->slabRows, 1);
}

TEST(CubeTiling, NothingFits) {
  CubeProblem p;
  ConvImage image;
  image.channels = 8;
  image.h = {300, 1, 300, 1, 1, 0, 0};
  image.w = {300, 1, 300, 1, 1, 0, 0};
  p.image = image, p.n = 16, p.k = 300 * 300 * 8;
  EXPECT_FALSE(chooseCubeTiling(p, a3));
}

/// A run of outputs must lie within the rows that its slab provides.
TEST(CubeTiling, SlabsServeEveryRun) {
  for (int64_t cores : {2, 24})
    forLargeLayers(cores, [](const CubeProblem &p, const CubeTiling &t) {
      if (!p.image || t.slabCols != p.image->w.out)
        return;
      int64_t width = p.image->w.out, outputs = p.image->h.out * width;
      for (int64_t begin = 0; begin < outputs; begin += t.blockM) {
        int64_t last = std::min(begin + t.blockM, outputs) - 1;
        EXPECT_LE(last / width - begin / width + 1, t.slabRows);
      }
    });
}

/// Every output must find its input rows in its slab, at the offset that the
/// slab arithmetic computes.
TEST(SlabAxis, HoldsWhatEachBlockNeeds) {
  for (int64_t in : {1, 4, 9, 24})
    for (int64_t kernel : {1, 2, 3, 5})
      for (int64_t stride : {1, 2, 3})
        for (int64_t dilation : {1, 2})
          for (int64_t before : {0, 1, 3})
            for (int64_t after : {0, 2}) {
              int64_t reach = (kernel - 1) * dilation;
              if (in + before + after <= reach)
                continue;
              int64_t out = (in + before + after - reach - 1) / stride + 1;
              ConvAxis axis{in, out, kernel, stride, dilation, before, after};
              for (int64_t block = 1; block <= out; ++block) {
                SlabAxis slab = slabFor(axis, block);
                ASSERT_LE(slab.lastStart * stride + slab.extent, in);
                for (int64_t o0 = 0; o0 < out; o0 += block) {
                  int64_t start = std::max<int64_t>(0, std::min(o0 - slab.lead, slab.lastStart));
                  for (int64_t o = o0; o < std::min(o0 + block, out); ++o)
                    for (int64_t tap = 0; tap < kernel; ++tap) {
                      int64_t row = o * stride - before + tap * dilation;
                      int64_t local = (o - start) * stride - before + tap * dilation;
                      bool inImage = row >= 0 && row < in;
                      bool inSlab = local >= 0 && local < slab.extent;
                      ASSERT_EQ(inImage, inSlab);
                      ASSERT_EQ(local + start * stride, row);
                    }
                }
              }
            }
}

/// A slab chosen for the greatest image serves all smaller ones: it ends with the image, or holds zeros behind it.
TEST(SlabAxis, ServesImagesOfAnyNumberOfRows) {
  for (int64_t stride : {1, 2, 3})
    for (int64_t kernel : {1, 2, 3, 5})
      for (int64_t dilation : {1, 2})
        for (int64_t before : {0, 1, 2}) {
          // As many outputs as strides, which is what sizes at run time ask for.
          int64_t after = (kernel - 1) * dilation + 1 - stride - before;
          if (after < 0)
            continue;
          int64_t served = 0;
          ConvAxis axis{24 * stride, 24, kernel, stride, dilation, before, after};
          axis.slabLimit = std::max(6 * stride, slabFor(axis, 2).extent);
          for (int64_t block = 1; block <= axis.out; ++block) {
            if (!slabFits(axis, block))
              continue;
            ++served;
            SlabAxis slab = slabFor(axis, block);
            ASSERT_LE(slab.extent, axis.slabLimit);
            for (int64_t out = 1; out <= axis.out; ++out)
              for (int64_t o = 0; o < out; ++o) {
                int64_t in = out * stride, last = std::max<int64_t>(in - slab.extent, 0) / stride;
                int64_t start = std::max<int64_t>(0, std::min(o / block * block - slab.lead, last));
                for (int64_t tap = 0; tap < kernel; ++tap) {
                  int64_t row = o * stride - before + tap * dilation;
                  int64_t local = row - start * stride, held = std::min(in, slab.extent);
                  ASSERT_EQ(row >= 0 && row < in, local >= 0 && local < held) << in << " " << block << " " << o;
                }
              }
          }
          EXPECT_GT(served, 0);
        }
}

} // namespace
