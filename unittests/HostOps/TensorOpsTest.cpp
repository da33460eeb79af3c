#include "RunTensorOp.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace pto_mlir;
using namespace pto_mlir::hostops;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

namespace {

TEST(TensorOps, PartsOfASplitHaveSizesThatAddUp) {
  auto part = [](const std::vector<int64_t> &sizes, int64_t number) {
    auto count = int64_t(sizes.size());
    return run<int64_t, int64_t>("split_part", ElementType::I64, {{{2, 3}, {1, 2, 3, 4, 5, 6}}, {{count}, sizes}},
                                 ElementType::I64, {{"axis", int64_t(1)}, {"part", number}});
  };
  EXPECT_THAT(part({1, 2}, 1).values, ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(part({0, 3, 0}, 2).shape, ElementsAre(2, 0));
  EXPECT_THAT(part({1, 1}, 0).error, HasSubstr("the sizes of a split add up to 2, not to 3"));
  EXPECT_THAT(part({4, -1}, 1).error, HasSubstr("do not add up to 3"));
  EXPECT_THAT(part({std::numeric_limits<int64_t>::max(), 2}, 0).error, HasSubstr("do not add up to 3"));
  EXPECT_THAT(part({1, 2}, 2).error, HasSubstr("has no part 2"));
}

TEST(TensorOps, IntegersWrapInTheirWidth) {
  auto sum = run<uint8_t, uint8_t>("add", ElementType::U8, {{{3}, {250, 5, 0}}, {{}, {10}}}, ElementType::U8);
  EXPECT_THAT(sum.values, ElementsAre(4, 15, 10));
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  auto quotient =
      run<int64_t, int64_t>("div", ElementType::I64, {{{3}, {least, -7, 7}}, {{3}, {-1, 2, -2}}}, ElementType::I64);
  EXPECT_THAT(quotient.values, ElementsAre(least, -3, -3));
  auto rest = run<int64_t, int64_t>("mod", ElementType::I64, {{{4}, {-7, 7, least, 6}}, {{4}, {3, -3, -1, 3}}},
                                    ElementType::I64);
  EXPECT_THAT(rest.values, ElementsAre(2, -2, 0, 0));
  uint64_t most = std::numeric_limits<uint64_t>::max();
  auto greater = run<uint8_t, uint64_t>("compare", ElementType::U64, {{{2}, {most, 1}}, {{}, {2}}},
                                        ElementType::Boolean, {{"mode", std::string("gt")}});
  EXPECT_THAT(greater.values, ElementsAre(1, 0));
}

TEST(TensorOps, ShiftsByTheWidthLeaveTheSign) {
  auto right = run<int8_t, int8_t>("shr", ElementType::I8, {{{3}, {-128, 127, -1}}, {{3}, {9, 9, 1}}}, ElementType::I8);
  EXPECT_THAT(right.values, ElementsAre(-1, 0, -1));
  auto left = run<uint16_t, uint16_t>("shl", ElementType::U16, {{{2}, {3, 1}}, {{2}, {15, 16}}}, ElementType::U16);
  EXPECT_THAT(left.values, ElementsAre(0x8000, 0));
}

TEST(TensorOps, CastsWrapIntegersAndSaturateFloats) {
  auto narrow = run<int8_t, int64_t>("cast", ElementType::I64, {{{3}, {200, -200, 5}}}, ElementType::I8);
  EXPECT_THAT(narrow.values, ElementsAre(-56, 56, 5));
  auto fixed = run<int8_t, double>("cast", ElementType::F64, {{{4}, {200.5, -1e30, -3.9, NAN}}}, ElementType::I8);
  EXPECT_THAT(fixed.values, ElementsAre(127, -128, -3, 0));
  // 1 + 2^-11 + 2^-60 rounds up once; by way of f32 it would be a tie, which rounds down.
  auto half = run<uint16_t, double>("cast", ElementType::F64, {{{1}, {1 + std::ldexp(1, -11) + std::ldexp(1, -45)}}},
                                    ElementType::F16);
  EXPECT_THAT(half.values, ElementsAre(0x3c01));
}

TEST(TensorOps, ReducesAndMultiplies) {
  std::vector<int64_t> axes = {1};
  auto sum = run<int64_t, int64_t>("reduce_sum", ElementType::I64, {{{2, 3}, {1, 2, 3, 4, 5, 6}}}, ElementType::I64,
                                   {{"axes", axes}, {"keepdims", int64_t(0)}});
  EXPECT_THAT(sum.shape, ElementsAre(2));
  EXPECT_THAT(sum.values, ElementsAre(6, 15));
  auto most = run<double, double>("reduce_max", ElementType::F64, {{{2, 2}, {1, NAN, -3, -2}}}, ElementType::F64,
                                  {{"axes", axes}});
  EXPECT_TRUE(std::isnan(most.values[0]));
  EXPECT_EQ(most.values[1], -2);
  auto product = run<int64_t, int64_t>("matmul", ElementType::I64,
                                       {{{1, 2}, {3, 4}}, {{2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}}, ElementType::I64);
  EXPECT_THAT(product.shape, ElementsAre(2, 1, 2));
  EXPECT_THAT(product.values, ElementsAre(15, 22, 43, 50));
  auto running = run<int64_t, int64_t>("cumsum", ElementType::I64, {{{2, 2}, {1, 2, 3, 4}}}, ElementType::I64,
                                       {{"axis", int64_t(1)}, {"exclusive", int64_t(1)}, {"reverse", int64_t(1)}});
  EXPECT_THAT(running.values, ElementsAre(2, 0, 4, 0));
}

// Five rows by a matrix that is given by its columns: more rows than one pass over it takes.
TEST(TensorOps, MultipliesManyRows) {
  std::vector<int32_t> left, right;
  for (int32_t i = 0; i < 5 * 40; ++i)
    left.push_back(i % 7 - 3);
  for (int32_t i = 0; i < 35 * 40; ++i)
    right.push_back(i % 11 - 5);
  auto product = run<int32_t, int32_t>("matmul", ElementType::I32, {{{5, 40}, left}, {{35, 40}, right}},
                                       ElementType::I32, {{"transpose_b", int64_t(1)}});
  ASSERT_THAT(product.shape, ElementsAre(5, 35));
  for (size_t row = 0; row < 5; ++row)
    for (size_t column = 0; column < 35; ++column) {
      int32_t sum = 0;
      for (size_t k = 0; k < 40; ++k)
        sum += left[row * 40 + k] * right[column * 40 + k];
      EXPECT_EQ(product.values[row * 35 + column], sum) << row << ", " << column;
    }
}

// Sums of 1,000 products in f32: those of 128 in f32, then in double. Whatever the order, 127 additions and a product
// err by less than 128 units of 2^-24 of the sum of the magnitudes (Higham, Accuracy and Stability, section 4.2); all
// 1,000 in f32 would err by more on these numbers, each of which is lost beside the sum before it.
TEST(TensorOps, AddsLongProductsOfFloats) {
  constexpr size_t kRows = 5, kColumns = 35, kDepth = 1000;
  std::vector<float> left(kRows * kDepth), right(kColumns * kDepth);
  for (size_t i = 0; i < left.size(); ++i)
    left[i] = i % kDepth == 0 ? 0x1p20F : 1 + float(i % 7) / 64;
  for (size_t i = 0; i < right.size(); ++i)
    right[i] = i % kDepth == 0 ? 1 : 0.03F + float(i % 11) / 4096;
  auto product = run<float, float>("matmul", ElementType::F32, {{{5, 1000}, left}, {{35, 1000}, right}},
                                   ElementType::F32, {{"transpose_b", int64_t(1)}});
  ASSERT_THAT(product.shape, ElementsAre(5, 35));
  for (size_t row = 0; row < kRows; ++row)
    for (size_t column = 0; column < kColumns; ++column) {
      double sum = 0, magnitudes = 0;
      for (size_t k = 0; k < kDepth; ++k) {
        double term = double(left[row * kDepth + k]) * double(right[column * kDepth + k]);
        sum += term;
        magnitudes += std::abs(term);
      }
      EXPECT_NEAR(product.values[row * kColumns + column], sum, 128 * 0x1p-24 * magnitudes) << row << ", " << column;
    }
}

// Dimensions of size 1 and dimensions that one stride walks are no loops of their own.
TEST(TensorOps, MovesBetweenDimensionsOfSizeOne) {
  std::vector<int16_t> numbers = {1, 2, 3, 4};
  std::vector<int64_t> pads = {0, 1, 0, 1}, shape = {2, 2, 3}, perm = {2, 1, 0};
  auto padded = run<int16_t, int16_t>("pad", ElementType::I16, {{{4, 1}, numbers}}, ElementType::I16, {{"pads", pads}});
  EXPECT_THAT(padded.values, ElementsAre(0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0));
  auto wide =
      run<int16_t, int16_t>("expand", ElementType::I16, {{{2, 2, 1}, numbers}}, ElementType::I16, {{"shape", shape}});
  EXPECT_THAT(wide.values, ElementsAre(1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4));
  auto turned =
      run<int16_t, int16_t>("permute", ElementType::I16, {{{2, 1, 2}, numbers}}, ElementType::I16, {{"perm", perm}});
  EXPECT_THAT(turned.values, ElementsAre(1, 3, 2, 4));
}

TEST(TensorOps, MovesElements) {
  std::vector<int64_t> starts = {1, 2}, ends = {2, -1}, steps = {1, -2}, perm = {1, 0};
  std::vector<int16_t> numbers = {1, 2, 3, 4, 5, 6};
  auto part = run<int16_t, int16_t>("slice", ElementType::I16, {{{2, 3}, numbers}}, ElementType::I16,
                                    {{"starts", starts}, {"ends", ends}, {"steps", steps}});
  EXPECT_THAT(part.shape, ElementsAre(1, 2));
  EXPECT_THAT(part.values, ElementsAre(6, 4));
  auto turned =
      run<int16_t, int16_t>("permute", ElementType::I16, {{{2, 3}, numbers}}, ElementType::I16, {{"perm", perm}});
  EXPECT_THAT(turned.values, ElementsAre(1, 4, 2, 5, 3, 6));
  auto both = run<int16_t, int16_t>("concat", ElementType::I16, {{{2, 1}, {7, 8}}, {{2, 3}, numbers}}, ElementType::I16,
                                    {{"axis", int64_t(1)}});
  EXPECT_THAT(both.values, ElementsAre(7, 1, 2, 3, 8, 4, 5, 6));
}

TEST(TensorOps, GathersRowsThatExist) {
  std::vector<int64_t> numbers = {1, 2, 3, 4, 5, 6};
  auto rows = run<int64_t, int64_t>("gather", ElementType::I64, {{{3, 2}, numbers}, {{2}, {-1, 0}}}, ElementType::I64);
  EXPECT_THAT(rows.values, ElementsAre(5, 6, 1, 2));
  auto none = run<int64_t, int64_t>("gather", ElementType::I64, {{{3, 2}, numbers}, {{2}, {0, 3}}}, ElementType::I64);
  EXPECT_THAT(none.error, HasSubstr("element [1] of the indices is 3, but it names one of 3 rows"));
}

/// On i64, which say places and shapes as well.
TEST(TensorOps, MeansOfIntegersDoNotWrap) {
  std::vector<int64_t> axes = {0};
  auto mean = run<uint32_t, uint32_t>("reduce_mean", ElementType::U32, {{{4}, {4294967295U, 3, 4, 2}}},
                                      ElementType::U32, {{"axes", axes}});
  EXPECT_THAT(mean.values, ElementsAre(1073741826));
}

TEST(TensorOps, ScattersAlongAnAxis) {
  std::vector<int64_t> six = {1, 2, 3, 4, 5, 6};
  auto scattered = [&](const std::vector<int64_t> &indices, const Parameters &parameters) {
    return runInts("scatter_elements", {{{2, 3}, six}, {{1, 2}, indices}, {{1, 2}, {10, 20}}}, parameters);
  };
  EXPECT_THAT(scattered({1, -2}, {}).values, ElementsAre(1, 20, 3, 10, 5, 6));
  EXPECT_THAT(scattered({2, 2}, {{"axis", int64_t(1)}, {"reduction", std::string("add")}}).values,
              ElementsAre(1, 2, 33, 4, 5, 6));
  EXPECT_THAT(scattered({2, 0}, {}).error, HasSubstr("an index is 2, but dimension 0 has 2 elements"));
  EXPECT_THAT(runInts("scatter_elements", {{{6}, six}, {{1, 2}, {0, 0}}, {{1, 2}, {1, 1}}}).error,
              HasSubstr("do not fit"));
}

TEST(TensorOps, RefusesWhatDoesNotFit) {
  auto zero = run<int64_t, int64_t>("div", ElementType::I64, {{{1}, {1}}, {{1}, {0}}}, ElementType::I64);
  EXPECT_THAT(zero.error, HasSubstr("an integer is divided by 0"));
  auto shapes = run<int64_t, int64_t>("add", ElementType::I64, {{{2}, {1, 2}}, {{3}, {1, 2, 3}}}, ElementType::I64);
  EXPECT_THAT(shapes.error, HasSubstr("do not broadcast"));
  std::vector<int64_t> huge = {int64_t(1) << 40, int64_t(1) << 40}, far = {9};
  auto large = run<int64_t, int64_t>("expand", ElementType::I64, {{{1}, {1}}}, ElementType::I64, {{"shape", huge}});
  EXPECT_THAT(large.error, HasSubstr("has more than 67108864 elements"));
  auto axis = run<int64_t, int64_t>("reduce_sum", ElementType::I64, {{{1}, {1}}}, ElementType::I64, {{"axes", far}});
  EXPECT_THAT(axis.error, HasSubstr("an axis of the reduction is 9"));
  ElementType types[] = {ElementType::I64};
  EXPECT_FALSE(hasTensorOp("frobnicate", types));
  EXPECT_FALSE(hasTensorOp("exp", types));
}

TEST(TensorOps, TopKTakesTheLowerPlaceOfEqualElements) {
  std::vector<int64_t> x = {3, int64_t(1) << 40, 3, -1, 7, (int64_t(1) << 40) + 1, 0, 0};
  auto values =
      run<int64_t, int64_t>("topk_values", ElementType::I64, {{{2, 4}, x}}, ElementType::I64, {{"k", int64_t(3)}});
  EXPECT_THAT(values.values, ElementsAre(x[1], 3, 3, x[5], 7, 0));
  auto places = run<int64_t, int64_t>("topk_indices", ElementType::I64, {{{2, 4}, x}}, ElementType::I64,
                                      {{"k", int64_t(3)}, {"largest", int64_t(0)}});
  EXPECT_THAT(places.values, ElementsAre(3, 0, 2, 2, 3, 0));
  auto none =
      run<int64_t, int64_t>("topk_values", ElementType::I64, {{{2, 4}, x}}, ElementType::I64, {{"k", int64_t(5)}});
  EXPECT_THAT(none.error, HasSubstr("k is 5 for rows of 4 elements"));
}

TEST(TensorOps, SelectsAndScattersAtPlaces) {
  auto picked = run<int64_t, int64_t>("gather_elements", ElementType::I64,
                                      {{{2, 3}, {1, 2, 3, 4, 5, 6}}, {{2, 2}, {-1, 0, 9, 1}}}, ElementType::I64);
  EXPECT_THAT(picked.values, ElementsAre(3, 1, 6, 5));
  auto sums = run<int64_t, int64_t>("scatter", ElementType::I64,
                                    {{{3, 1}, {1, 2, 3}}, {{4}, {2, 0, 2, 5}}, {{4, 1}, {10, 20, 30, 40}}},
                                    ElementType::I64, {{"reduction", std::string("add")}});
  EXPECT_THAT(sums.values, ElementsAre(21, 2, 43));
}

TEST(TensorOps, ConvolvesGroupsWithPadsStridesAndDilations) {
  // One dimension, two groups of one channel: 1, 10 and 100 tell the taps apart.
  std::vector<int64_t> strides = {2}, dilations = {2}, pads = {1, 2};
  Parameters window = {{"strides", strides}, {"dilations", dilations}, {"pads", pads}, {"group", int64_t(2)}};
  auto made =
      run<double, double>("conv", ElementType::F64,
                          {{{1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}}, {{2, 1, 3}, {1, 10, 100, 1, 1, 1}}, {{2}, {0.5, 0}}},
                          ElementType::F64, window);
  EXPECT_THAT(made.shape, ElementsAre(1, 2, 2));
  EXPECT_THAT(made.values, ElementsAre(420.5, 42.5, 14, 14));
  window["output_padding"] = std::vector<int64_t>{1};
  auto spread =
      run<double, double>("conv_transpose", ElementType::F64,
                          {{{1, 2, 2}, {1, 2, 3, 4}}, {{2, 1, 3}, {1, 10, 100, 1, 1, 1}}}, ElementType::F64, window);
  EXPECT_THAT(spread.shape, ElementsAre(1, 2, 5));
  EXPECT_THAT(spread.values, ElementsAre(0, 12, 0, 120, 0, 0, 7, 0, 7, 0));
  auto wrong =
      run<double, double>("conv", ElementType::F64, {{{1, 2, 4}, {}}, {{2, 2, 3}, {}}}, ElementType::F64, window);
  EXPECT_THAT(wrong.error, HasSubstr("channels of a convolution do not fit its groups"));
}

TEST(TensorOps, PoolsIntegersAndCountsPads) {
  std::vector<int64_t> two = {2, 2}, one = {1, 1}, pads = {1, 0, 0, 1};
  std::vector<int8_t> bytes = {-128, -7, -3, -5, -100, 127};
  Parameters window = {{"kernel", two}, {"strides", one}, {"dilations", one}, {"pads", pads}};
  auto most = run<int8_t, int8_t>("max_pool", ElementType::I8, {{{1, 1, 2, 3}, bytes}}, ElementType::I8, window);
  EXPECT_THAT(most.shape, ElementsAre(1, 1, 2, 3));
  EXPECT_THAT(most.values, ElementsAre(-7, -3, -3, -5, 127, 127));
  std::vector<double> numbers = {1, 2, 3, 4, 5, 6};
  auto mean = run<double, double>("avg_pool", ElementType::F64, {{{1, 1, 2, 3}, numbers}}, ElementType::F64, window);
  EXPECT_THAT(mean.values, ElementsAre(1.5, 2.5, 3, 3, 4, 4.5));
  window["count_include_pad"] = int64_t(1);
  auto all = run<double, double>("avg_pool", ElementType::F64, {{{1, 1, 2, 3}, numbers}}, ElementType::F64, window);
  EXPECT_THAT(all.values, ElementsAre(0.75, 1.25, 0.75, 3, 4, 2.25));
}

TEST(TensorOps, NormalizesInDouble) {
  std::vector<double> x = {0, std::log(3.0), 1000, 1000};
  auto soft = run<double, double>("softmax", ElementType::F64, {{{2, 2}, x}}, ElementType::F64, {{"axis", int64_t(1)}});
  EXPECT_THAT(soft.values, Pointwise(DoubleEq(), std::vector<double>{0.25, 0.75, 0.5, 0.5}));
  auto rows =
      run<double, double>("layer_norm", ElementType::F64, {{{2, 2}, {1, 3, 5, 5}}, {{2}, {2, 4}}, {{2}, {0, 1}}},
                          ElementType::F64, {{"axis", int64_t(1)}});
  EXPECT_THAT(std::vector<double>(rows.values.begin(), rows.values.begin() + 2), ElementsAre(-2, 5));
  auto channels = run<double, double>(
      "batch_norm", ElementType::F64,
      {{{1, 2, 2}, {1, 2, 3, 4}}, {{2}, {1, 2}}, {{2}, {0, 1}}, {{2}, {1, 3}}, {{2}, {4, 9}}}, ElementType::F64);
  EXPECT_THAT(channels.values, Pointwise(DoubleEq(), std::vector<double>{0, 0.5, 1, 2.0 / 3 + 1}));
}

TEST(TensorOps, PadsWithAConstant) {
  std::vector<int64_t> pads = {0, 1, 1, 0};
  auto made = run<int8_t, int8_t>("pad", ElementType::I8, {{{1, 2}, {3, 4}}}, ElementType::I8,
                                  {{"pads", pads}, {"value", -1.0}});
  EXPECT_THAT(made.shape, ElementsAre(2, 3));
  EXPECT_THAT(made.values, ElementsAre(-1, 3, 4, -1, -1, -1));
}

TEST(TensorOps, PacksIntegersOfLessThanAByte) {
  // -8 7 | -1 (odd count)
  std::vector<uint8_t> packed = {0x78, 0x0f};
  auto whole = run<int8_t, uint8_t>("cast", ElementType::I4, {{{3}, packed}}, ElementType::I8);
  EXPECT_THAT(whole.values, ElementsAre(-8, 7, -1));
  auto back = run<uint8_t, float>("cast", ElementType::F32, {{{3}, {-8.9f, 7.5f, -1}}}, ElementType::I4);
  EXPECT_THAT(back.values, ElementsAre(0x78, 0x0f, 0)); // the made buffer has a byte per element
  auto turned = run<uint8_t, uint8_t>("permute", ElementType::U2, {{{2, 2}, {0b11100100}}}, ElementType::U2,
                                      {{"perm", std::vector<int64_t>{1, 0}}});
  EXPECT_EQ(turned.values[0], 0b11011000);
  auto bits = run<uint8_t, uint8_t>("bitcast", ElementType::U4, {{{3}, packed}}, ElementType::F4E2M1);
  EXPECT_THAT(bits.values, ElementsAre(0x78, 0x0f, 0));
  auto wider = run<uint8_t, uint8_t>("bitcast", ElementType::U4, {{{3}, packed}}, ElementType::U8);
  EXPECT_THAT(wider.error, HasSubstr("the elements of a bitcast have another size"));
  ElementType types[] = {ElementType::I4, ElementType::I4};
  EXPECT_FALSE(hasTensorOp("add", types));
  EXPECT_TRUE(hasTensorOp("concat", types));
}

TEST(TensorOps, FloatsOfAByteSaturateUnlessToldOtherwise) {
  std::vector<float> x = {464, 465, -INFINITY, 1e-8f, NAN};
  auto near = run<uint8_t, float>("cast", ElementType::F32, {{{5}, x}}, ElementType::F8E4M3FN);
  EXPECT_THAT(near.values, ElementsAre(0x7e, 0x7e, 0xfe, 0, 0x7f));
  auto beyond =
      run<uint8_t, float>("cast", ElementType::F32, {{{5}, x}}, ElementType::F8E4M3FN, {{"overflows", int64_t(1)}});
  EXPECT_THAT(beyond.values, ElementsAre(0x7e, 0x7f, 0xff, 0, 0x7f));
}

} // namespace
