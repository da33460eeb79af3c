// Round trips of every 16- and 8-bit pattern through float; rounding is compared with an exact search over adjacent
// patterns.
#include "pto_mlir/Support/BFloat16.h"
#include "pto_mlir/Support/Float16.h"
#include "pto_mlir/Support/Float8.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace pto_mlir;

namespace {

double halfValue(uint16_t h) {
  int exponent = (h >> 10) & 31, mantissa = h & 1023;
  double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return h & 0x8000 ? -magnitude : magnitude;
}

TEST(Float16, EveryPatternIsExact) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    float f = halfToFloat(uint16_t(h));
    if ((h & 0x7fff) > 0x7c00)
      EXPECT_TRUE(std::isnan(f)) << h;
    else if ((h & 0x7fff) == 0x7c00)
      EXPECT_EQ(f, h & 0x8000 ? -INFINITY : INFINITY);
    else
      EXPECT_EQ(double(f), halfValue(uint16_t(h))) << h;
    if ((h & 0x7fff) <= 0x7c00)
      EXPECT_EQ(floatToHalf(f), h);
  }
}

TEST(Float16, RoundsToNearestEven) {
  for (uint32_t h = 0; h < 0x7bff; ++h) {
    double low = halfValue(uint16_t(h)), high = halfValue(uint16_t(h + 1));
    float middle = float((low + high) / 2); // exact
    EXPECT_EQ(floatToHalf(middle), h & 1 ? h + 1 : h);
    EXPECT_EQ(floatToHalf(std::nextafter(middle, 0.0f)), h);
    EXPECT_EQ(floatToHalf(std::nextafter(middle, INFINITY)), h + 1);
    EXPECT_EQ(floatToHalf(-middle), (h & 1 ? h + 1 : h) | 0x8000);
  }
  EXPECT_EQ(floatToHalf(65519.996f), 0x7bff);
  EXPECT_EQ(floatToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(floatToHalf(1e30f), 0x7c00);
  EXPECT_EQ(floatToHalf(-INFINITY), 0xfc00);
  EXPECT_EQ(floatToHalf(1e-30f), 0);
  EXPECT_EQ(floatToHalf(-0.0f), 0x8000);
}

TEST(Float16, NaNsStayNaNs) {
  EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(NAN))));
  EXPECT_TRUE(std::isnan(halfToFloat(0x7c01)));
  // A signalling float NaN whose payload is in the bits that are dropped.
  EXPECT_EQ(floatToHalf(detail::floatOf(0x7f800001u)) & 0x7e00, 0x7e00);
}

TEST(BFloat16, RoundTripAndRounding) {
  for (uint32_t b = 0; b < 0x7f80; ++b) {
    float low = bfloat16ToFloat(uint16_t(b));
    EXPECT_EQ(floatToBFloat16(low), b);
    EXPECT_EQ(floatToBFloat16(-low), b | 0x8000);
    float middle = detail::floatOf((b << 16) | 0x8000u);
    EXPECT_EQ(floatToBFloat16(middle), b & 1 ? b + 1 : b);
    EXPECT_EQ(floatToBFloat16(std::nextafter(middle, 0.0f)), b);
    EXPECT_EQ(floatToBFloat16(std::nextafter(middle, INFINITY)), b + 1);
  }
  EXPECT_TRUE(std::isnan(bfloat16ToFloat(floatToBFloat16(NAN))));
  EXPECT_TRUE(std::isnan(bfloat16ToFloat(floatToBFloat16(detail::floatOf(0x7f800001u)))));
  EXPECT_EQ(floatToBFloat16(INFINITY), 0x7f80);
}

template <class Decode, class Encode> void check8(Decode decode, Encode encode, uint8_t largest) {
  for (int c = 0; c < largest; ++c) {
    float low = decode(uint8_t(c)), high = decode(uint8_t(c + 1)), middle = (low + high) / 2;
    ASSERT_LT(low, high);
    EXPECT_EQ(encode(low), c);
    EXPECT_EQ(encode(-low), c | 0x80);
    EXPECT_EQ(encode(middle), c & 1 ? c + 1 : c);
    EXPECT_EQ(encode(std::nextafter(middle, 0.0f)), c);
    EXPECT_EQ(encode(std::nextafter(middle, INFINITY)), c + 1);
  }
  EXPECT_EQ(encode(1e9f), largest);
  EXPECT_TRUE(std::isnan(decode(encode(NAN))));
}

using Cast8 = uint8_t (*)(float, bool);
template <Cast8 cast> uint8_t saturated(float value) { return cast(value, true); }

TEST(Float8, E4M3FN) {
  check8(float8E4M3FNToFloat, saturated<castToFloat8E4M3FN>, 0x7e);
  EXPECT_EQ(float8E4M3FNToFloat(0x7e), 448.0f);
  EXPECT_EQ(float8E4M3FNToFloat(0x08), 0x1p-6f);
  EXPECT_EQ(castToFloat8E4M3FN(INFINITY, true), 0x7e);
  EXPECT_EQ(castToFloat8E4M3FN(-INFINITY, false), 0xff);
  EXPECT_EQ(castToFloat8E4M3FN(464, false), 0x7e);
  EXPECT_EQ(castToFloat8E4M3FN(465, false), 0x7f);
}

TEST(Float8, E5M2) {
  check8(float8E5M2ToFloat, saturated<castToFloat8E5M2>, 0x7b);
  EXPECT_EQ(float8E5M2ToFloat(0x7b), 57344.0f);
  EXPECT_EQ(castToFloat8E5M2(-INFINITY, true), 0xfb);
  EXPECT_EQ(castToFloat8E5M2(-INFINITY, false), 0xfc);
  EXPECT_EQ(castToFloat8E5M2(1e9f, false), 0x7c);
  EXPECT_EQ(float8E5M2ToFloat(0x7c), INFINITY);
}

// NaN is the code that -0 would have.
TEST(Float8, FNUZ) {
  EXPECT_EQ(float8E4M3FNUZToFloat(0x7f), 240.0f);
  EXPECT_EQ(float8E4M3FNUZToFloat(0x08), 0x1p-7f);
  EXPECT_EQ(float8E4M3FNUZToFloat(0x81), -0x1p-10f);
  EXPECT_EQ(float8E5M2FNUZToFloat(0x7f), 57344.0f);
  EXPECT_EQ(float8E5M2FNUZToFloat(0x04), 0x1p-15f);
  EXPECT_TRUE(std::isnan(float8E4M3FNUZToFloat(0x80)) && std::isnan(float8E5M2FNUZToFloat(0x80)));
  for (Cast8 cast : {castToFloat8E4M3FNUZ, castToFloat8E5M2FNUZ}) {
    EXPECT_EQ(cast(-0.0f, true), 0);
    EXPECT_EQ(cast(-1e-9f, true), 0);
    EXPECT_EQ(cast(NAN, true), 0x80);
    EXPECT_EQ(cast(-INFINITY, true), 0xff);
    EXPECT_EQ(cast(1e9f, true), 0x7f);
    EXPECT_EQ(cast(INFINITY, false), 0x80);
    EXPECT_EQ(cast(-1e9f, false), 0x80);
  }
  for (int code = 1; code < 0x7f; ++code) {
    EXPECT_EQ(castToFloat8E4M3FNUZ(float8E4M3FNUZToFloat(uint8_t(code)), false), code);
    EXPECT_EQ(castToFloat8E5M2FNUZ(-float8E5M2FNUZToFloat(uint8_t(code)), false), code | 0x80);
  }
}

// Every code comes back; between two numbers the even one of a tie, beyond the greatest that.
TEST(Float4, E2M1) {
  const float values[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (uint8_t code = 0; code < 8; ++code) {
    EXPECT_EQ(float4E2M1ToFloat(code), values[code]);
    EXPECT_EQ(castToFloat4E2M1(values[code]), code);
    EXPECT_EQ(castToFloat4E2M1(-values[code]), code | 8);
  }
  EXPECT_EQ(castToFloat4E2M1(0.25f), 0);
  EXPECT_EQ(castToFloat4E2M1(0.75f), 2);
  EXPECT_EQ(castToFloat4E2M1(5), 6);
  EXPECT_EQ(castToFloat4E2M1(5.1f), 7);
  EXPECT_EQ(castToFloat4E2M1(-INFINITY), 15);
  EXPECT_EQ(castToFloat4E2M1(NAN), 8);
}

TEST(Float8, E8M0) {
  for (ScaleRounding rounding : {ScaleRounding::Up, ScaleRounding::Down, ScaleRounding::Nearest})
    for (int code = 0; code < 255; ++code)
      EXPECT_EQ(castToFloat8E8M0(float8E8M0ToFloat(uint8_t(code)), false, rounding), code);
  EXPECT_EQ(float8E8M0ToFloat(127), 1.0f);
  EXPECT_TRUE(std::isnan(float8E8M0ToFloat(255)));
  EXPECT_EQ(castToFloat8E8M0(2.5f, true, ScaleRounding::Up), 129);
  EXPECT_EQ(castToFloat8E8M0(3.5f, true, ScaleRounding::Down), 128);
  EXPECT_EQ(castToFloat8E8M0(3.0f, true, ScaleRounding::Nearest), 129);
  EXPECT_EQ(castToFloat8E8M0(2.9f, true, ScaleRounding::Nearest), 128);
  EXPECT_EQ(castToFloat8E8M0(INFINITY, true, ScaleRounding::Up), 254);
  EXPECT_EQ(castToFloat8E8M0(INFINITY, false, ScaleRounding::Up), 255);
  EXPECT_EQ(castToFloat8E8M0(0, true, ScaleRounding::Up), 0);
  EXPECT_EQ(castToFloat8E8M0(0, false, ScaleRounding::Up), 255);
  EXPECT_EQ(castToFloat8E8M0(-2, true, ScaleRounding::Up), 255);
}

} // namespace
