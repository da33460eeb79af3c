// Random numbers: reproducible by their seed, different between nodes, calls and sessions, and of the distribution.
#include "pto_mlir/HostOps/TensorOps.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

using namespace pto_mlir;
using namespace pto_mlir::hostops;
using ::testing::Each;
using ::testing::HasSubstr;

namespace {

struct Drawn {
  std::vector<double> values;
  std::string error;
};

Drawn draw(std::string_view name, Parameters parameters, Draw from = {}, std::vector<double> operand = {0},
           std::vector<int64_t> shape = {1}) {
  Drawn made;
  const TensorView inputs[] = {{ElementType::F64, std::move(shape), reinterpret_cast<std::byte *>(operand.data())}};
  auto allocate = [&](const std::vector<int64_t> &sizes) {
    made.values.resize(size_t(std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>())));
    return reinterpret_cast<std::byte *>(made.values.data());
  };
  Status status = runTensorOp({name, inputs, parameters, ElementType::F64, allocate, nullptr, &from});
  made.error = status ? "" : status.error();
  return made;
}

constexpr int64_t kCount = 100000;
const std::vector<int64_t> kShape = {kCount};

double mean(const std::vector<double> &values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}
double moment(const std::vector<double> &values, double about, int power) {
  double sum = 0;
  for (double value : values)
    sum += std::pow(value - about, power);
  return sum / double(values.size());
}

TEST(Random, FollowsFromSeedNodeAndCall) {
  auto of = [](int64_t seed, int64_t node, Draw from) {
    return draw("random_uniform", {{"shape", kShape}, {"has_seed", int64_t(1)}, {"seed", seed}, {"node", node}}, from)
        .values;
  };
  auto first = of(7, 0, {1, 0});
  EXPECT_EQ(first, of(7, 0, {2, 0})); // a seed makes the session's entropy no matter
  EXPECT_NE(first, of(8, 0, {1, 0}));
  EXPECT_NE(first, of(7, 1, {1, 0}));
  EXPECT_NE(first, of(7, 0, {1, 1}));
  auto free = [](uint64_t entropy) { return draw("random_uniform", {{"shape", kShape}}, {entropy, 0}).values; };
  EXPECT_EQ(free(1), free(1));
  EXPECT_NE(free(1), free(2));
}

TEST(Random, IsUniform) {
  auto values = draw("random_uniform", {{"shape", kShape}, {"low", -2.0}, {"high", 4.0}}).values;
  EXPECT_THAT(values, Each(::testing::AllOf(::testing::Ge(-2), ::testing::Lt(4))));
  EXPECT_NEAR(mean(values), 1, 5 * std::sqrt(3.0 / kCount));
  EXPECT_NEAR(moment(values, 1, 2), 3, 0.05);
  std::vector<int> bins(16);
  double chi = 0;
  for (double value : values)
    ++bins[size_t((value + 2) / 6 * 16)];
  for (int bin : bins)
    chi += (bin - kCount / 16.0) * (bin - kCount / 16.0) / (kCount / 16.0);
  EXPECT_LT(chi, 45); // 15 degrees of freedom: above once in 10,000
}

TEST(Random, IsNormal) {
  auto values = draw("random_normal", {{"shape", kShape}, {"mean", 3.0}, {"scale", 2.0}}).values;
  EXPECT_NEAR(mean(values), 3, 5 * 2 / std::sqrt(kCount));
  EXPECT_NEAR(moment(values, 3, 2), 4, 0.1);
  EXPECT_NEAR(moment(values, 3, 3), 0, 0.4);
  EXPECT_NEAR(moment(values, 3, 4) / 16, 3, 0.15);
}

TEST(Random, ChoosesByProbabilities) {
  std::vector<double> chances(kCount, 0.3);
  chances[0] = 0, chances[1] = 1;
  auto ones = draw("random_bernoulli", {}, {}, chances, {kCount}).values;
  EXPECT_EQ(ones[0], 0);
  EXPECT_EQ(ones[1], 1);
  EXPECT_NEAR(mean(ones), 0.3, 5 * std::sqrt(0.21 / kCount));
  auto columns =
      draw("random_multinomial", {{"size", kCount}}, {},
           {std::log(0.5), -HUGE_VAL, std::log(0.25), std::log(0.25), 1000, 1000, -HUGE_VAL, -HUGE_VAL}, {2, 4})
          .values;
  std::vector<int> counts(8);
  for (size_t i = 0; i < columns.size(); ++i)
    ++counts[(i < size_t(kCount) ? 0 : 4) + size_t(columns[i])];
  double off = 5 * std::sqrt(0.25 * kCount);
  EXPECT_NEAR(counts[0], 0.5 * kCount, off);
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(counts[2], 0.25 * kCount, off);
  EXPECT_NEAR(counts[4], 0.5 * kCount, off);
  EXPECT_EQ(counts[6] + counts[7], 0);
}

TEST(Random, RefusesWhatDoesNotFit) {
  EXPECT_THAT(draw("random_multinomial", {{"size", int64_t(1)}}, {}, {NAN, NAN}, {1, 2}).error, HasSubstr("no weight"));
  EXPECT_THAT(draw("random_multinomial", {{"size", int64_t(1)}}, {}, {1, 2}, {2}).error, HasSubstr("[B, C]"));
  std::vector<int64_t> huge = {int64_t(1) << 40, int64_t(1) << 40};
  EXPECT_THAT(draw("random_normal", {{"shape", huge}}).error, HasSubstr("elements"));
  const double zero = 0;
  const TensorView inputs[] = {{ElementType::F64, {1}, reinterpret_cast<const std::byte *>(&zero)}};
  Status status = runTensorOp({"random_bernoulli", inputs, {}, ElementType::F64, [](auto &) { return nullptr; }});
  EXPECT_THAT(status.error(), HasSubstr("outside of a run"));
}

} // namespace
