#include "pto_mlir/Support/MLIRText.h"

#include "pto_mlir/Support/Nesting.h"

#include <gtest/gtest.h>

using pto_mlir::forwardUseProblem;

TEST(MLIRText, ValuesThatAreDefinedBeforeTheirUseAreFine) {
  EXPECT_EQ(forwardUseProblem(""), "");
  EXPECT_EQ(forwardUseProblem(R"(
func.func private @helper(%x: i32)
func.func @f(%a: index {pto.name = "%no"}, %b: f32) attributes {k = 1 : i32} {
  %c8 = arith.constant 8 : index // %later
  %r:2 = scf.for %i = %a to %c8 step %c8 iter_args(%x = %b, %y = %b) -> (f32, f32) {
    %t = arith.addf %x, %y : f32
    scf.yield %t, %t : f32, f32
  }
  %s = arith.addf %r#0, %r#1 : f32
  scf.for %i = %a to %c8 step %c8 {
    %t = arith.addi %i, %i : index
  }
  return
}
func.func @g(%a: index) {
  %t = arith.addi %a, %a : index
  return
})"),
            "");
}

TEST(MLIRText, BlocksMayUseWhatLaterBlocksDefine) {
  EXPECT_EQ(forwardUseProblem(R"(
func.func @f() {
  cf.br ^bb2
^bb1(%x: i32):
  "use"(%y, %x) : (i32, i32) -> ()
  return
^bb2:
  %y = arith.constant 1 : i32
  cf.br ^bb1(%y : i32)
})"),
            "");
}

TEST(MLIRText, ArgumentsOfRegionsAreNoUses) {
  EXPECT_EQ(forwardUseProblem(R"(
  %m = linalg.map ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) (%in: f32) {
    %u = math.exp %in : f32
  }
  scf.forall (%i, %j) in (4, 4) {
  }
  %g = linalg.generic ins(%m : tensor<4xf32>) {
  ^bb0(%in: f32, %i: f32, %j: f32):
    linalg.yield %in : f32
  })"),
            "");
}

TEST(MLIRText, AUseBeforeTheRegionThatDefinesItIsFound) {
  EXPECT_EQ(forwardUseProblem("func.func @f(%a: index) {\n  scf.for %i = %a to %a step %c8 {\n"
                              "    %c8 = arith.constant 8 : index\n  }\n}"),
            "line 2: '%c8' is used before the region that defines it");
  EXPECT_EQ(forwardUseProblem("\"a.loop\"(%x) ({\n^bb0(%x: i32):\n}) : (i32) -> ()"),
            "line 1: '%x' is used before the region that defines it");
  EXPECT_EQ(forwardUseProblem("scf.for %i = %i to %i step %i {\n}"),
            "line 1: '%i' is used before the region that defines it");
  EXPECT_EQ(forwardUseProblem("%r = scf.if %c -> (i32) {\n scf.if %d {\n %c = arith.constant 1 : i1\n} }"),
            "line 1: '%c' is used before the region that defines it");
}

TEST(MLIRText, BrokenTextIsLeftToTheParser) {
  for (const char *text : {"}", ")", "{{{", "(((", "%", "%x", "\"", "\"\\", "//", "% = ", "^bb(%", "} %x = ( ) } )"})
    EXPECT_EQ(forwardUseProblem(text), "") << text;
}

TEST(MLIRText, BothProblemsAreTold) {
  EXPECT_EQ(pto_mlir::textProblem("scf.if %c {\n %c = x\n}"), "line 1: '%c' is used before the region that defines it");
  EXPECT_NE(pto_mlir::textProblem(std::string(pto_mlir::kMostBrackets + 1, '(')), "");
}
