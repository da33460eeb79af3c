//===- CubeWeightsTest.cpp - Packed filters -------------------------------===//

#include "pto_mlir/Kernels/CubeWeights.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

using namespace pto_mlir::cube;

namespace {

std::vector<float> pack(const std::vector<float> &source, const FilterShape &shape, FilterLayout layout) {
  auto bytes = packFilter(reinterpret_cast<const uint8_t *>(source.data()), shape, layout, 4);
  std::vector<float> result(bytes.size() / 4);
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

TEST(CubeWeights, RowsAreChannelBlockTapChannel) {
  FilterShape shape{1, 2, 1, 9, 3};
  std::vector<float> source(2 * 9 * 3);
  std::iota(source.begin(), source.end(), 1.0f);
  auto packed = pack(source, shape, FilterLayout::HWCF);
  ASSERT_EQ(packedRows(shape, 4), 32);
  ASSERT_EQ(packed.size(), 32u * 3);
  for (int64_t c1 = 0; c1 < 2; ++c1)
    for (int64_t tap = 0; tap < 2; ++tap)
      for (int64_t c0 = 0; c0 < 8; ++c0)
        for (int64_t f = 0; f < 3; ++f) {
          int64_t c = c1 * 8 + c0;
          float expected = c < 9 ? source[(tap * 9 + c) * 3 + f] : 0.0f;
          EXPECT_EQ(packed[((c1 * 2 + tap) * 8 + c0) * 3 + f], expected);
        }
}

TEST(CubeWeights, GroupsAreTransposed) {
  FilterShape shape{2, 1, 3, 4, 5};
  std::vector<float> source(2 * 5 * 3 * 4);
  std::iota(source.begin(), source.end(), 1.0f);
  auto packed = pack(source, shape, FilterLayout::GFHWC);
  ASSERT_EQ(packed.size(), 2u * 24 * 5);
  for (int64_t g = 0; g < 2; ++g)
    for (int64_t tap = 0; tap < 3; ++tap)
      for (int64_t c = 0; c < 8; ++c)
        for (int64_t f = 0; f < 5; ++f) {
          float expected = c < 4 ? source[((g * 5 + f) * 3 + tap) * 4 + c] : 0.0f;
          EXPECT_EQ(packed[((g * 3 + tap) * 8 + c) * 5 + f], expected);
        }
}

TEST(CubeWeights, IdentityPackingKeepsTheBytes) {
  FilterShape shape{1, 3, 3, 8, 4};
  EXPECT_TRUE(packingIsIdentity(shape, FilterLayout::HWCF, 4));
  EXPECT_FALSE(packingIsIdentity(shape, FilterLayout::HWCF, 2));
  EXPECT_FALSE(packingIsIdentity(shape, FilterLayout::GFHWC, 4));
  std::vector<float> source(9 * 8 * 4);
  std::iota(source.begin(), source.end(), 1.0f);
  EXPECT_EQ(pack(source, shape, FilterLayout::HWCF), source);
}

} // namespace
