// The reciprocal square root of whole lines against double precision: every mantissa, for both parities of the
// exponent.
#include "Arithmetic/RsqrtLine.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

using namespace pto_mlir::cmodel;

namespace {

#if defined(PTO_HAVE_RSQRT_LINE)
float exactly(float x) { return float(1.0 / std::sqrt(double(x))); }

TEST(RsqrtLine, EveryMantissa) {
  if (!__builtin_cpu_supports("fma") || !__builtin_cpu_supports("avx2"))
    return;                                                                    // not supported by this machine
  constexpr uint32_t first = 0x3f800000u, last = 0x40800000u, block = 1 << 14; // 1 to 4
  std::vector<float> x(block), y(block);
  uint64_t wrong = 0;
  for (uint32_t bits = first; bits < last; bits += block) {
    for (uint32_t i = 0; i < block; ++i)
      x[i] = std::bit_cast<float>(bits + i);
    rsqrtLine(y.data(), x.data(), block);
    for (uint32_t i = 0; i < block; ++i)
      wrong += std::bit_cast<uint32_t>(y[i]) != std::bit_cast<uint32_t>(exactly(x[i]));
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(RsqrtLine, EveryExponentAndTheEnds) {
  if (!__builtin_cpu_supports("fma") || !__builtin_cpu_supports("avx2"))
    return; // not supported by this machine
  std::vector<float> x;
  for (uint64_t bits = 0; bits < 0x100000000u; bits += 65521) // every sign and exponent, subnormals, NaN
    x.push_back(std::bit_cast<float>(uint32_t(bits)));
  for (float v : {0.0f, -0.0f, INFINITY, -INFINITY, -1.0f, 0x1p-149f, 0x1p-126f, 0x1.fffffep127f, 1.0f, 4.0f})
    x.push_back(v);
  std::vector<float> y(x.size());
  rsqrtLine(y.data(), x.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    float expected = exactly(x[i]);
    ASSERT_TRUE(std::isnan(expected) ? std::isnan(y[i])
                                     : std::bit_cast<uint32_t>(y[i]) == std::bit_cast<uint32_t>(expected))
        << x[i] << " " << y[i];
  }
  rsqrtLine(x.data(), x.data(), 7); // in place, short
  EXPECT_TRUE(std::isinf(x[0]));
}
#endif

} // namespace
