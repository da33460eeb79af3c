#include "pto_mlir/Support/ElementType.h"
#include "pto_mlir/Support/MathExtras.h"
#include "pto_mlir/Support/Quoted.h"

#include <gtest/gtest.h>

#include <vector>

using namespace pto_mlir;

TEST(Text, ShapesAreSizesJoinedByX) {
  EXPECT_EQ(shapeText(std::vector<uint64_t>{1, 3, 48, 192}), "1x3x48x192");
  EXPECT_EQ(shapeText(std::vector<int64_t>{7, 0}), "7x0");
  EXPECT_EQ(shapeText(std::vector<int64_t>{}), "scalar");
}

TEST(Text, QuotedEscapesWhatMlirEscapes) {
  EXPECT_EQ(quoted("a \"b\" \\ c"), "\"a \\\"b\\\" \\\\ c\"");
  EXPECT_EQ(quoted("line\nend\x7f"), "\"line\\0aend\\7f\"");
  EXPECT_EQ(quoted("größe"), "\"größe\"");
}

TEST(MathExtras, RoundsUp) {
  EXPECT_EQ(ceilDiv(0, 4), 0);
  EXPECT_EQ(ceilDiv(8, 4), 2);
  EXPECT_EQ(ceilDiv(9, 4), 3);
  EXPECT_EQ(roundUp(uint64_t(1) << 40, 512), uint64_t(1) << 40);
  EXPECT_EQ(roundUp((uint64_t(1) << 40) + 1, 512), (uint64_t(1) << 40) + 512);
}
