// exp and log against double precision, over every exponent.
#include "Arithmetic/VectorMath.h"

#include <gtest/gtest.h>

using namespace pto_mlir;
using namespace pto_mlir::cmodel;

namespace {

/// Error in units in the last place (ULP) of the correctly rounded float.
double ulps(float value, double exact) {
  if (std::fabs(exact) < 0x1p-126)
    return std::fabs(double(value) - exact) / 0x1p-149;
  return std::fabs(double(value) - exact) / std::ldexp(1.0, std::ilogb(exact) - 23);
}

TEST(VectorMath, Exp) {
  double worst = 0;
  for (double x = -103; x < 88.7; x += 0.00137)
    worst = std::max(worst, ulps(expFloat(float(x)), std::exp(double(float(x)))));
  EXPECT_LT(worst, 2);
  EXPECT_EQ(expFloat(0.0f), 1.0f);
  EXPECT_EQ(expFloat(-0.0f), 1.0f);
  EXPECT_EQ(expFloat(89.0f), INFINITY);
  EXPECT_EQ(expFloat(INFINITY), INFINITY);
  EXPECT_EQ(expFloat(-INFINITY), 0.0f);
  EXPECT_EQ(expFloat(-200.0f), 0.0f);
  EXPECT_TRUE(std::isnan(expFloat(NAN)));
}

TEST(VectorMath, Log) {
  double worst = 0;
  for (uint32_t bits = 1; bits < 0x7f800000u; bits += 10007) {
    float x = detail::floatOf(bits);
    double exact = std::log(double(x));
    if (exact != 0)
      worst = std::max(worst, ulps(logFloat(x), exact));
  }
  EXPECT_LT(worst, 2);
  EXPECT_EQ(logFloat(1.0f), 0.0f);
  EXPECT_EQ(logFloat(0.0f), -INFINITY);
  EXPECT_EQ(logFloat(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(logFloat(-1.0f)));
  EXPECT_TRUE(std::isnan(logFloat(NAN)));
}

} // namespace
