//===- AttentionTilingTest.cpp - tilings of attention over many shapes ----===//

#include "pto_mlir/Kernels/AttentionTiling.h"

#include <gtest/gtest.h>

using namespace pto_mlir::attention;
using pto_mlir::ceilDiv;

namespace {

const AttentionLimits a3 = *attentionLimits("a3");

/// Checks the invariants of a tiling for any problem.
void expectLegal(const AttentionProblem &p, const AttentionTiling &t, const AttentionLimits &limits) {
  EXPECT_LE(ubBytes(p, t), limits.ub);
  EXPECT_LE(l1Bytes(p, t), limits.l1);
  EXPECT_LE(l0aBytes(p, t), limits.l0a);
  EXPECT_LE(l0bBytes(p, t), limits.l0b);
  EXPECT_LE(l0cBytes(p, t), limits.l0c);
  // Boxes hold what they are for.
  EXPECT_GE(t.box, t.rows);
  EXPECT_EQ(t.box % 16, 0);
  EXPECT_GE(limits.vectorCores * t.share, t.rows);
  EXPECT_GE(kHalves * t.chunk, t.share);
  EXPECT_GE(t.chunkBox, t.chunk);
  EXPECT_EQ(t.chunkBox % 8, 0);
  // Products take whole parts of a tile.
  EXPECT_EQ(t.keys % 16, 0);
  EXPECT_EQ(t.keys % t.scoreKeys, 0);
  EXPECT_EQ(t.keys % t.sumStep, 0);
  EXPECT_GE(t.scoreStep * ceilDiv(p.depth, t.scoreStep), p.depth);
  // Units of a head are as even as whole rows allow, and none is without rows.
  int64_t perHead = ceilDiv(p.queries, t.unit), last = p.queries - (perHead - 1) * t.unit;
  EXPECT_GE(last, 1);
  EXPECT_LT(t.unit - last, perHead);
  EXPECT_GE(leastRows(p, t), 1);
  EXPECT_LE(t.unit, t.strips * t.rows);
  EXPECT_TRUE(p.alike || t.strips == 1);
}

TEST(AttentionTiling, SweepRespectsEveryLimit) {
  for (const char *name : {"a3", "a5"})
    for (int64_t heads : {1, 3, 12, 100})
      for (int64_t queries : {1, 2, 3, 5, 17, 99, 128, 129, 197, 1000, 1024, 32769})
        for (int64_t keys : {1, 15, 16, 17, 63, 64, 65, 197, 255, 256, 257, 32768})
          for (int64_t depth : {1, 8, 31, 32, 64, 72, 80, 96, 128, 160, 192, 256})
            for (int64_t bytes : {2, 4}) {
              AttentionProblem p;
              p.heads = heads, p.queries = queries, p.keys = keys, p.depth = depth, p.valueDepth = depth;
              p.bytes = bytes;
              AttentionLimits limits = *attentionLimits(name);
              auto t = chooseAttentionTiling(p, limits);
              ASSERT_TRUE(t) << name << " " << queries << " " << keys << " " << depth;
              expectLegal(p, *t, limits);
              if (HasFailure())
                FAIL() << name << ": " << heads << " heads, " << queries << " x " << keys << " x " << depth;
            }
}

TEST(AttentionTiling, DepthsOfKAndVMayDiffer) {
  for (int64_t depth : {16, 128, 256})
    for (int64_t valueDepth : {16, 48, 128, 256}) {
      AttentionProblem p;
      p.queries = 500, p.keys = 700, p.depth = depth, p.valueDepth = valueDepth;
      auto t = chooseAttentionTiling(p, a3);
      ASSERT_TRUE(t) << depth << " " << valueDepth;
      expectLegal(p, *t, a3);
    }
}

TEST(AttentionTiling, WideHeadsHaveNone) {
  AttentionProblem p;
  p.queries = 100, p.keys = 100, p.depth = 4096, p.valueDepth = 4096;
  EXPECT_FALSE(chooseAttentionTiling(p, a3));
}

TEST(AttentionTiling, TakesTheMeasuredSizes) {
  // One head of 128: as many rows as keep the rounds over the chip's 24 blocks short.
  auto rows = [](int64_t queries) {
    AttentionProblem p;
    p.queries = p.keys = queries, p.depth = p.valueDepth = 128;
    return chooseAttentionTiling(p, a3)->unit;
  };
  EXPECT_EQ(rows(1024), 47);   // 22 units
  EXPECT_EQ(rows(2048), 86);   // 24 units
  EXPECT_EQ(rows(4096), 171);  // 24 units of two strips
  EXPECT_EQ(rows(8192), 171);  // 48 units
  EXPECT_EQ(rows(16384), 171); // 96 units
  EXPECT_EQ(rows(32768), 172); // 191 units
  // 32 heads of 2048 rows: 15 rounds of two strips. Heads of 64 columns gain nothing by strips.
  AttentionProblem heads;
  heads.heads = 32, heads.queries = heads.keys = 2048, heads.depth = heads.valueDepth = 128;
  EXPECT_EQ(chooseAttentionTiling(heads, a3)->strips, 2);
  EXPECT_FALSE(chooseAttentionTiling(heads, a3)->ones);
  heads.depth = heads.valueDepth = 64;
  EXPECT_EQ(chooseAttentionTiling(heads, a3)->strips, 1);
  // Whether the cube core adds up weights decides the sums' bits: it does not depend on the numbers of rows and keys.
  for (int64_t extent : {1, 100, 5000}) {
    heads.queries = extent, heads.keys = 5000 / extent;
    EXPECT_TRUE(chooseAttentionTiling(heads, a3)->ones);
  }
  // The case "two strips" of test_attention_kernels.py.
  AttentionProblem strips;
  strips.queries = 3700, strips.keys = 1100, strips.depth = 128, strips.valueDepth = 72;
  EXPECT_EQ(chooseAttentionTiling(strips, a3)->strips, 2);
  // Units of a causal head differ, and long ones do not divide evenly.
  AttentionProblem causal;
  causal.queries = causal.keys = 4096, causal.depth = causal.valueDepth = 128, causal.alike = false;
  EXPECT_EQ(chooseAttentionTiling(causal, a3)->unit, 88);
  // 197 rows are 99 and 98.
  AttentionProblem vit;
  vit.heads = 12, vit.queries = vit.keys = 197, vit.depth = vit.valueDepth = 64;
  auto t = chooseAttentionTiling(vit, a3);
  EXPECT_EQ(t->rows, 99);
  EXPECT_EQ(t->units(vit), 24);
  EXPECT_EQ(t->tiles(vit), 1);
}

TEST(AttentionTiling, UnknownArchitectureHasNoLimits) { EXPECT_FALSE(attentionLimits("a9")); }

} // namespace
