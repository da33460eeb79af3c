// The least that a computation takes, against numbers made by hand from ISA/Costs.td.
#include "pto_mlir/Cost/Bound.h"

#include <gtest/gtest.h>

using namespace pto_mlir;
using cost::lowerBound;
using cost::Work;

namespace {

constexpr double kIdleVector = 0.95e-6 + 60e-9 + 58e-9, kIdleCube = 0.95e-6 + 36e-9;

TEST(Bound, NothingTakesADispatchAndTheStarts) {
  EXPECT_NEAR(lowerBound("a3", 1, {}), kIdleVector, 1e-12);
  EXPECT_NEAR(lowerBound("a3", 24, {}), kIdleVector, 1e-12);
}

TEST(Bound, BytesComeAtTheRateOfThePathThenOfHBM) {
  // Two vector cores of a block have 100.9 GiB/s each; 48 of them share HBM.
  Work copy{1e9, 0, 0, false, 0};
  EXPECT_NEAR(lowerBound("a3", 1, copy) - kIdleVector, 1e9 / (2 * 100.9 * (1 << 30)), 1e-8);
  EXPECT_NEAR(lowerBound("a3", 24, copy) - kIdleVector, 1e9 / (24 * 42.7e9), 1e-8);
  Work store{0, 1e9, 0, false, 0};
  EXPECT_NEAR(lowerBound("a3", 24, store) - kIdleVector, 1e9 / (24 * 169e9), 1e-8);
}

TEST(Bound, ProductsTakeStepsOfTheCube) {
  // 4096 multiplications of f16 per cycle and core; f32: half the depth per step, and two cycles for each.
  Work product{0, 0, 4096e6, false, 0};
  EXPECT_NEAR(lowerBound("a3", 1, product) - kIdleCube, 1e6 / 1.8e9, 1e-9);
  EXPECT_NEAR(lowerBound("a3", 24, product) - kIdleCube, 1e6 / 1.8e9 / 24, 1e-9);
  product.wide = true;
  EXPECT_NEAR(lowerBound("a3", 1, product) - kIdleCube, 4e6 / 1.8e9, 1e-9);
}

TEST(Bound, TheLongestOfThemCounts) {
  Work work{1e6, 1e6, 0, false, 1e9};
  double computing = 1e9 / 32 / 48 / 1.8e9; // 32 elements per cycle, two vector cores per block
  EXPECT_NEAR(lowerBound("a3", 24, work) - kIdleVector, computing, 1e-9);
  EXPECT_LT(lowerBound("a5", 24, work), lowerBound("a5", 1, work));
}

TEST(Bound, LaunchesAreTheTables) {
  EXPECT_DOUBLE_EQ(cost::launchSeconds("a3").alone, 5.9e-6);
  EXPECT_DOUBLE_EQ(cost::launchSeconds("a3").task, 0.95e-6);
}

} // namespace
