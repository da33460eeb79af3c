#include "pto_mlir/Support/Nesting.h"

#include <gtest/gtest.h>

using pto_mlir::kMostBrackets;
using pto_mlir::nestingProblem;

static std::string times(size_t count, const std::string &text) {
  std::string result;
  for (size_t i = 0; i < count; ++i)
    result += text;
  return result;
}

TEST(Nesting, CountsWhatIsOpen) {
  EXPECT_EQ(nestingProblem(""), "");
  EXPECT_EQ(nestingProblem(times(kMostBrackets, "({[<>]}) ")), "");
  EXPECT_EQ(nestingProblem(times(kMostBrackets, "(")), "");
  EXPECT_EQ(nestingProblem("\n" + times(kMostBrackets + 1, "(")), "line 2: more than 256 brackets are open");
  EXPECT_EQ(nestingProblem(times(kMostBrackets + 1, "[\n")), "line 257: more than 256 brackets are open");
  EXPECT_NE(nestingProblem(times(100, "({<")), "");
}

TEST(Nesting, TakesArrowsStringsAndCommentsForWhatTheyAre) {
  EXPECT_EQ(nestingProblem(times(1000, "f() -> (i32)\n")), "");
  EXPECT_NE(nestingProblem(times(1000, "<->")), "");
  EXPECT_EQ(nestingProblem("\"" + times(1000, "(\\\"") + "\""), "");
  EXPECT_EQ(nestingProblem(times(1000, "// (\n")), "");
  EXPECT_EQ(nestingProblem("// " + times(1000, "(")), "");
  EXPECT_NE(nestingProblem(times(1000, "/(")), "");
  // An unterminated string ends at the end of its line.
  EXPECT_NE(nestingProblem("\"\n" + times(1000, "(")), "");
  EXPECT_EQ(nestingProblem("\"\\"), "");
  EXPECT_EQ(nestingProblem("/"), "");
}
