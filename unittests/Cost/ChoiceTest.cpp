// Among candidates of nearly the least cost the one that moves the fewest bytes is built.
#include "pto_mlir/Cost/Choice.h"

#include <gtest/gtest.h>
#include <vector>

using pto_mlir::cost::fewestBytes;
using pto_mlir::cost::kEqual;

namespace {

struct Candidate {
  double cost, bytes;
};

size_t chosen(const std::vector<Candidate> &all) {
  auto best = fewestBytes(all, [](auto &c) { return c.cost; }, [](auto &c) { return c.bytes; });
  return size_t(best - all.begin());
}

TEST(Choice, TakesTheLeastCostWhereItIsLessByMore) {
  EXPECT_EQ(chosen({{100 * kEqual + 1, 10}, {100, 1000}, {150, 1}}), 1u);
}

TEST(Choice, TakesTheFewestBytesAmongEqualCosts) {
  // The least cost stands last: the limit is of all, not of those seen so far.
  EXPECT_EQ(chosen({{100.9, 30}, {100.5, 20}, {101.5, 10}, {100, 90}}), 1u);
}

TEST(Choice, TakesTheLeastCostAmongEqualBytesThenTheFirst) {
  EXPECT_EQ(chosen({{100.9, 20}, {100.5, 20}, {100.5, 20}}), 1u);
  EXPECT_EQ(chosen({{0, 0}}), 0u);
}

} // namespace
