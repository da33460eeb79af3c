//===- CubeTilingTest.cpp - the tiling chooser over many shapes -----------===//

#include "pto_mlir/Kernels/CubeTiling.h"

#include <gtest/gtest.h>

using namespace pto_mlir::cube;

namespace {

const CubeLimits a3{512 << 10, 64 << 10, 64 << 10, 128 << 10, 1 << 10};

/// Everything that a tiling promises, whatever the problem.
void expectLegal(const CubeProblem &p, const CubeTiling &t) {
  int64_t c0 = blockChannels(p.inBytes);
  EXPECT_EQ(t.baseM % 16, 0);
  EXPECT_EQ(t.baseN % 16, 0);
  EXPECT_EQ(t.baseK % c0, 0);
  EXPECT_LE(2 * t.baseM * t.baseK * p.inBytes, a3.l0a);
  EXPECT_LE(2 * t.baseN * t.baseK * p.inBytes, a3.l0b);
  EXPECT_LE(t.baseM * t.baseN * 4, a3.l0c);
  if (p.bias)
    EXPECT_LE(t.baseN * 4, a3.biasTable);
  EXPECT_LE(l1Bytes(p, t, 1), a3.l1);
  EXPECT_GE(t.baseK, 1);
  EXPECT_GE(t.panelK, 1);
  if (t.baseK < std::min(t.panelK, p.k)) // several steps start on whole boxes
    EXPECT_EQ(t.baseK % 16, 0);
  if (t.panelK < p.k) {
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
              image.h.out =
                  (size + 2 * (kernel / 2) - kernel) / stride + 1;
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
              if (HasFailure())
                FAIL() << size << " " << channels << " " << kernel << " "
                       << stride << " " << features;
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

/// Every output must find its input rows in its slab, at the place that the
/// slab's arithmetic says.
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
                  int64_t start = std::max<int64_t>(
                      0, std::min(o0 - slab.lead, slab.lastStart));
                  for (int64_t o = o0; o < std::min(o0 + block, out); ++o)
                    for (int64_t tap = 0; tap < kernel; ++tap) {
                      int64_t row = o * stride - before + tap * dilation;
                      int64_t local = (o - start) * stride - before +
                                      tap * dilation;
                      bool inImage = row >= 0 && row < in;
                      bool inSlab = local >= 0 && local < slab.extent;
                      ASSERT_EQ(inImage, inSlab);
                      ASSERT_EQ(local + start * stride, row);
                    }
                }
              }
            }
}

} // namespace
