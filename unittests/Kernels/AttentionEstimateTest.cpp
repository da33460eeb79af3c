//===- AttentionEstimateTest.cpp - what attentions take in both ways ------===//

#include "pto_mlir/Kernels/AttentionEstimate.h"

#include <gtest/gtest.h>

using namespace pto_mlir::attention;

namespace {

/// Microseconds in timing mode on 24 blocks of a3, f16 (benchmarks/silicon/decode.py), of `heads` that share nothing.
struct Measured {
  int64_t heads, queries, keys, depth;
  double together, apart;
};

constexpr Measured kMeasured[] = {
    {1, 8, 4096, 128, 18.2, 7.5},   {1, 32, 8192, 64, 21.8, 10.4},   {1, 8, 1024, 64, 3.9, 3.4},
    {8, 4, 8192, 128, 50.3, 39.4},  {1, 128, 2048, 128, 11.9, 8.3},  {1, 512, 8192, 64, 28.2, 55.2},
    {8, 64, 1024, 128, 9.7, 13.1},  {12, 128, 128, 32, 3.1, 4.3},    {12, 197, 197, 64, 5.4, 6.7},
    {12, 512, 512, 64, 12.8, 22.9}, {1, 1024, 1024, 128, 9.2, 14.3}, {6, 1500, 1500, 64, 40.2, 83.4},
    {12, 1, 100, 64, 1.9, 2.9},     {6, 1, 77, 64, 1.8, 2.5},        {9, 1024, 1024, 64, 28.1, 58.9},
};

TEST(AttentionEstimate, IsNearTheTimingMode) {
  for (const Measured &m : kMeasured) {
    auto times = estimateAttention({m.heads, m.queries, m.keys, m.depth, m.depth}, 1, "a3");
    ASSERT_TRUE(times);
    SCOPED_TRACE(testing::Message() << m.heads << " heads, " << m.queries << " x " << m.keys << " x " << m.depth);
    EXPECT_NEAR(times->together * 1e6 / m.together, 1.1, 0.35);
    EXPECT_NEAR(times->apart * 1e6 / m.apart, 1.1, 0.35);
    EXPECT_EQ(times->apart < times->together, m.apart < m.together);
  }
}

TEST(AttentionEstimate, HeadsThatShareKeysAreRowsOfProducts) {
  auto shared = estimateAttention({32, 1, 4096, 128, 128}, 32, "a3"),
       own = estimateAttention({32, 1, 4096, 128, 128}, 1, "a3");
  auto rows = estimateAttention({1, 32, 4096, 128, 128}, 1, "a3");
  EXPECT_EQ(shared->apart, rows->apart);
  EXPECT_LT(shared->apart, own->apart);
}

TEST(AttentionEstimate, NothingWhereAKernelCannotBeBuilt) {
  EXPECT_FALSE(estimateAttention({1, 8, 8, 4096, 4096}, 1, "a3"));
  EXPECT_FALSE(estimateAttention({1, 8, 8, 64, 64}, 1, "none"));
}

} // namespace
