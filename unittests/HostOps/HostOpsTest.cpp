#include "pto_mlir/HostOps/HostOps.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

using namespace pto_mlir;
using namespace pto_mlir::hostops;
using ::testing::HasSubstr;

namespace {

TEST(HostOps, TransposeMatchesIndexArithmetic) {
  std::vector<uint64_t> shape = {2, 3, 5, 7};
  std::vector<uint16_t> in(2 * 3 * 5 * 7), out(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = i;
  transpose(in.data(), out.data(), 2, shape, {0, 3, 1, 2}); // NHWC to NCHW
  for (int n = 0; n < 2; ++n)
    for (int h = 0; h < 3; ++h)
      for (int w = 0; w < 5; ++w)
        for (int c = 0; c < 7; ++c)
          ASSERT_EQ(out[((n * 7 + c) * 3 + h) * 5 + w], in[((n * 3 + h) * 5 + w) * 7 + c]);
  double scalar = 4, result = 0;
  transpose(&scalar, &result, 8, {}, {});
  EXPECT_EQ(result, 4);
}

template <class From, class To>
std::string castValues(const std::vector<From> &values, ElementType from, ElementType to, std::vector<To> &out) {
  out.assign(values.size(), To());
  Status status = cast(values.data(), from, out.data(), to, values.size());
  return status ? "" : status.error();
}

TEST(HostOps, CastRoundsAndRefusesWhatDoesNotFit) {
  std::vector<int32_t> narrow;
  EXPECT_EQ(castValues<int64_t>({-5, INT32_MAX, INT32_MIN}, ElementType::I64, ElementType::I32, narrow), "");
  EXPECT_EQ(narrow, (std::vector<int32_t>{-5, INT32_MAX, INT32_MIN}));
  EXPECT_THAT(castValues<int64_t>({0, int64_t(INT32_MAX) + 1}, ElementType::I64, ElementType::I32, narrow),
              HasSubstr("element 1 has the value 2147483648"));
  std::vector<uint8_t> bytes;
  EXPECT_NE(castValues<int32_t>({-1}, ElementType::I32, ElementType::U8, bytes), "");
  EXPECT_NE(castValues<uint64_t>({UINT64_MAX}, ElementType::U64, ElementType::I32, narrow), "");
  EXPECT_EQ(castValues<float>({2.9f, -2.9f}, ElementType::F32, ElementType::I32, narrow), "");
  EXPECT_EQ(narrow, (std::vector<int32_t>{2, -2}));
  for (float bad : {2147483648.0f, std::nanf(""), INFINITY, -2147483904.0f})
    EXPECT_NE(castValues<float>({bad}, ElementType::F32, ElementType::I32, narrow), "") << bad;
  std::vector<uint16_t> half;
  EXPECT_EQ(castValues<float>({1.0f, 65504.0f, 1e6f, 5.9604645e-8f}, ElementType::F32, ElementType::F16, half), "");
  EXPECT_EQ(half, (std::vector<uint16_t>{0x3c00, 0x7bff, 0x7c00, 1}));
  std::vector<float> wide;
  EXPECT_EQ(castValues<uint16_t>({0x3f80, 0xc000}, ElementType::BF16, ElementType::F32, wide), "");
  EXPECT_EQ(wide, (std::vector<float>{1, -2}));
  EXPECT_EQ(castValues<float>({0.25f, 0.0f}, ElementType::F32, ElementType::Boolean, bytes), "");
  EXPECT_EQ(bytes, (std::vector<uint8_t>{1, 0}));
  EXPECT_THAT(castValues<float>({1}, ElementType::F32, ElementType::F8E5M2, bytes), HasSubstr("cannot be converted"));
}

TEST(HostOps, VerifierChecksParametersAndBuffers) {
  EXPECT_TRUE(verifyHostOp(1, {4, 2, 2, 3, 1, 0}, {24, 24}));
  EXPECT_TRUE(verifyHostOp(2, {9, 7, 5}, {40, 20}));
  struct Case {
    int64_t number;
    std::vector<int64_t> parameters;
    std::vector<uint64_t> bytes;
  } bad[] = {
      {0, {}, {}},
      {1, {4, 2, 2, 3, 1, 0}, {24}},
      {1, {4, 2, 2, 3, 1, 0}, {24, 20}},
      {1, {4, 2, 2, 3, 1}, {24, 24}},
      {1, {4, -1}, {4, 4}},
      {1, {4, 9}, {4, 4}},
      {1, {0, 0}, {0, 0}},
      {1, {8, 2, int64_t(1) << 62, 8, 0, 1}, {0, 0}},
      {1, {4, 2, -2, -3, 1, 0}, {24, 24}},
      {2, {9, 7}, {40, 20}},
      {2, {9, 99, 5}, {40, 20}},
      {2, {0, 16, 2}, {8, 1}},
      {2, {9, 7, -5}, {40, 20}},
      {2, {9, 7, 5}, {40, 40}},
  };
  for (const Case &test : bad)
    EXPECT_FALSE(verifyHostOp(test.number, test.parameters, test.bytes)) << &test - bad;
}

TEST(HostOps, RunsByNumber) {
  int64_t in[3] = {1, 2, 3};
  int32_t out[3];
  EXPECT_TRUE(runHostOp(2, {9, 7, 3}, {{in, 24}, {out, 12}}));
  EXPECT_EQ(out[2], 3);
  EXPECT_EQ(hostOpName(1), "transpose");
  EXPECT_EQ(hostOpName(77), "");
}

} // namespace
