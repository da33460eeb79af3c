// Operations whose shapes other tensors say.
#include "RunTensorOp.h"

#include <gmock/gmock.h>

#include <limits>

using namespace pto_mlir;
using namespace pto_mlir::hostops;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

TEST(SizedOps, OtherTensorsSayShapes) {
  std::vector<int64_t> six = {1, 2, 3, 4, 5, 6}, first = {0}, both = {0, -1}, back = {-2}, last = {1};
  EXPECT_THAT(runInts("shape", {{{2, 3}, six}}).values, ElementsAre(2, 3));
  EXPECT_THAT(runInts("shape", {{{2, 3}, six}}, {{"start", int64_t(1)}}).values, ElementsAre(3));
  EXPECT_THAT(runInts("unsqueeze", {{{2, 3}, six}}, {{"axes", both}}).shape, ElementsAre(1, 2, 3, 1));
  EXPECT_THAT(runInts("squeeze", {{{1, 6}, six}}, {{"axes", back}}).shape, ElementsAre(6));
  EXPECT_THAT(runInts("squeeze", {{{1, 6}, six}}, {{"axes", last}}).error, HasSubstr("has not as many elements"));
  EXPECT_THAT(runInts("flatten", {{{1, 2, 3}, six}}, {{"axis", int64_t(2)}}).shape, ElementsAre(2, 3));
  EXPECT_THAT(runInts("reshape", {{{2, 3}, six}, {{3}, {0, 1, -1}}}).shape, ElementsAre(2, 1, 3));
  EXPECT_THAT(runInts("reshape", {{{0, 3}, {}}, {{2}, {0, -1}}}, {{"allowzero", int64_t(1)}}).shape, ElementsAre(0, 0));
  EXPECT_THAT(runInts("reshape", {{{2, 3}, six}, {{1}, {-2}}}).error, HasSubstr("has not as many elements"));
  EXPECT_THAT(runInts("reshape", {{{6}, six}, {{2}, {int64_t(1) << 62, 6}}}).error, HasSubstr("shape"));
  EXPECT_THAT(runInts("expand", {{{2, 1}, {7, 8}}, {{2}, {1, 2}}}).values, ElementsAre(7, 7, 8, 8));
  EXPECT_THAT(runInts("expand", {{{1}, {7}}, {{1}, {0}}}).shape, ElementsAre(0));
  EXPECT_THAT(runInts("range", {{{}, {5}}, {{}, {0}}, {{}, {-2}}}).values, ElementsAre(5, 3, 1));
  EXPECT_THAT(runInts("range", {{{}, {5}}, {{}, {9}}, {{}, {0}}}).error, HasSubstr("the step of a range is 0"));
  EXPECT_THAT(runInts("topk_values", {{{2, 3}, six}, {{1}, {2}}}).values, ElementsAre(3, 2, 6, 5));
  EXPECT_THAT(runInts("topk_indices", {{{2, 3}, six}, {{1}, {0}}}).shape, ElementsAre(2, 0));
  EXPECT_THAT(runInts("topk_values", {{{2, 3}, six}, {{1}, {4}}}).error, HasSubstr("k is 4 for rows of 3"));
}

TEST(SizedOps, SlicesFromAndToGivenPlaces) {
  std::vector<int64_t> six = {1, 2, 3, 4, 5, 6}, rows = {0}, columns = {1}, forth = {1}, back = {-2}, none = {0};
  auto sliced = [&](int64_t start, int64_t end, std::vector<int64_t> axes, std::vector<int64_t> steps) {
    return runInts("slice", {{{2, 3}, six}, {{1}, {start}}, {{1}, {end}}}, {{"axes", axes}, {"steps", steps}});
  };
  EXPECT_THAT(sliced(1, 300, columns, forth).values, ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(sliced(-1, INT64_MAX, rows, forth).values, ElementsAre(4, 5, 6));
  EXPECT_THAT(sliced(9, INT64_MIN, columns, back).values, ElementsAre(3, 1, 6, 4));
  EXPECT_THAT(sliced(1, 1, rows, forth).shape, ElementsAre(0, 3));
  EXPECT_THAT(sliced(0, 1, rows, none).error, HasSubstr("a step other than 0"));
}

TEST(SizedOps, GathersSlicesByRowsOfIndices) {
  std::vector<int64_t> six = {1, 2, 3, 4, 5, 6};
  EXPECT_THAT(runInts("gather_nd", {{{2, 3}, six}, {{2, 2}, {1, 0, 0, -1}}}).values, ElementsAre(4, 3));
  EXPECT_THAT(runInts("gather_nd", {{{2, 3}, six}, {{1, 1}, {1}}}).shape, ElementsAre(1, 3));
  EXPECT_THAT(runInts("gather_nd", {{{6}, six}, {{0, 1}, {}}}).shape, ElementsAre(0));
  EXPECT_THAT(runInts("gather_nd", {{{2, 3}, six}, {{1, 2}, {1, 3}}}).error,
              HasSubstr("an index is 3, but dimension 1 has 3 elements"));
}

// As onnxruntime's: the sum has 64 bits.
TEST(SizedOps, ScattersSlicesByRowsOfIndices) {
  std::vector<int64_t> six = {1, 2, 3, 4, 5, 6};
  Parameters sums{{"reduction", std::string("add")}};
  EXPECT_THAT(runInts("scatter_nd", {{{2, 3}, six}, {{2, 2}, {1, 0, 0, -1}}, {{2}, {10, 20}}}).values,
              ElementsAre(1, 2, 20, 10, 5, 6));
  EXPECT_THAT(runInts("scatter_nd", {{{2, 3}, six}, {{2, 1}, {1, 1}}, {{2, 3}, six}}, sums).values,
              ElementsAre(1, 2, 3, 9, 12, 15));
  EXPECT_THAT(runInts("scatter_nd", {{{2}, {1, 2}}, {{1, 0}, {}}, {{1, 2}, {7, 8}}}).values, ElementsAre(7, 8));
  EXPECT_THAT(runInts("scatter_nd", {{{6}, six}, {{0, 1}, {}}, {{0}, {}}}).values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(runInts("scatter_nd", {{{2, 3}, six}, {{1, 2}, {1, 3}}, {{1}, {1}}}).error,
              HasSubstr("an index is 3, but dimension 1 has 3 elements"));
  EXPECT_THAT(runInts("scatter_nd", {{{2, 3}, six}, {{1, 1}, {1}}, {{1}, {1}}}).error, HasSubstr("do not fit"));
  EXPECT_THAT(runInts("scatter_nd", {{{6}, six}, {{1, 2}, {1, 1}}, {{1}, {1}}}).error,
              HasSubstr("more dimensions than the data have"));
}

TEST(SizedOps, GathersSlicesWithinBatches) {
  std::vector<int64_t> six{1, 2, 3, 4, 5, 6};
  Parameters one{{"batch_dims", int64_t(1)}};
  auto both = runInts("gather_nd", {{{2, 3}, six}, {{2, 2, 1}, {0, 2, -1, 1}}}, one);
  EXPECT_THAT(both.shape, ElementsAre(2, 2));
  EXPECT_THAT(both.values, ElementsAre(1, 3, 6, 5));
  EXPECT_THAT(runInts("gather_nd", {{{2, 3}, six}, {{1, 2, 1}, {0, 2}}}, one).error, HasSubstr("other batches"));
}

TEST(SizedOps, RepeatsTensors) {
  auto made = runInts("tile", {{{2, 2}, {1, 2, 3, 4}}, {{2}, {1, 2}}});
  EXPECT_THAT(made.shape, ElementsAre(2, 4));
  EXPECT_THAT(made.values, ElementsAre(1, 2, 1, 2, 3, 4, 3, 4));
  EXPECT_THAT(runInts("tile", {{{2}, {1, 2}}, {{1}, {0}}}).shape, ElementsAre(0));
  EXPECT_THAT(runInts("tile", {{{2}, {1, 2}}, {{1}, {int64_t(1) << 62}}}).error, HasSubstr("elements"));
  EXPECT_THAT(runInts("tile", {{{2}, {1, 2}}, {{1}, {-1}}}).error, HasSubstr("none negative"));
}

TEST(SizedOps, PadsAsTensorsSay) {
  std::vector<int64_t> row{1, 2, 3};
  auto pad = [&](const std::vector<int64_t> &pads, const char *mode) {
    Parameters parameters{{"axes", std::vector<int64_t>{-1}}, {"mode", std::string(mode)}};
    return runInts("pad", {{{3}, row}, {{int64_t(pads.size())}, pads}, {{}, {9}}}, parameters);
  };
  EXPECT_THAT(pad({1, 2}, "constant").values, ElementsAre(9, 1, 2, 3, 9, 9));
  EXPECT_THAT(pad({2, 5}, "reflect").values, ElementsAre(3, 2, 1, 2, 3, 2, 1, 2, 3, 2));
  EXPECT_THAT(pad({2, 1}, "edge").values, ElementsAre(1, 1, 1, 2, 3, 3));
  EXPECT_THAT(pad({4, 1}, "wrap").values, ElementsAre(3, 1, 2, 3, 1, 2, 3, 1));
  EXPECT_THAT(pad({-1, 1}, "edge").values, ElementsAre(2, 3, 3));
  EXPECT_THAT(pad({-2, -2}, "constant").error, HasSubstr("pads leave nothing of dimension 0"));
  EXPECT_THAT(pad({1}, "constant").error, HasSubstr("two sizes for each of its axes"));
}

TEST(SizedOps, ResizesAsScalesOrSizesSay) {
  Parameters sizes{
      {"axes", std::vector<int64_t>{0}}, {"sizes", int64_t(1)}, {"coordinates", std::string("asymmetric")}};
  auto copied = runInts("resize", {{{2}, {5, -7}}, {{1}, {4}}}, sizes);
  EXPECT_THAT(copied.values, ElementsAre(5, 5, -7, -7));
  EXPECT_THAT(runInts("resize", {{{0}, {}}, {{1}, {4}}}, sizes).error, HasSubstr("a possible size"));
  EXPECT_THAT(runInts("resize", {{{2}, {5, 7}}, {{1}, {int64_t(1) << 40}}}, sizes).error, HasSubstr("a possible size"));
  sizes["mode"] = std::string("linear");
  EXPECT_THAT(runInts("resize", {{{2}, {5, 7}}, {{1}, {4}}}, sizes).error, HasSubstr("interpolates floats only"));
  auto scaled = run<double, double>("resize", ElementType::F64, {{{1, 2}, {0, 4}}, {{2}, {1, 2}}}, ElementType::F64,
                                    {{"mode", std::string("linear")}});
  EXPECT_THAT(scaled.shape, ElementsAre(1, 4));
  EXPECT_THAT(scaled.values, ElementsAre(0, 1, 3, 4));
}

TEST(SizedOps, FindsThePlacesOfExtrema) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  auto place = [](const char *name, const std::vector<double> &row, int64_t last) {
    Parameters parameters{{"axis", int64_t(0)}, {"keepdims", int64_t(0)}, {"last", last}};
    return run<int64_t, double>(name, ElementType::F64, {{{int64_t(row.size())}, row}}, ElementType::I64, parameters);
  };
  EXPECT_THAT(place("argmax", {1, 3, 3, 2}, 0).values, ElementsAre(1));
  EXPECT_THAT(place("argmax", {1, 3, 3, 2}, 1).values, ElementsAre(2));
  EXPECT_THAT(place("argmin", {1, 3, nan, 0}, 0).values, ElementsAre(2));
  EXPECT_THAT(place("argmin", {}, 0).error, HasSubstr("of no elements"));
  auto columns = run<int64_t, double>("argmin", ElementType::F64, {{{2, 2}, {1, 5, 0, 7}}}, ElementType::I64,
                                      {{"axis", int64_t(0)}});
  EXPECT_THAT(columns.shape, ElementsAre(1, 2));
  EXPECT_THAT(columns.values, ElementsAre(1, 0));
}

} // namespace
