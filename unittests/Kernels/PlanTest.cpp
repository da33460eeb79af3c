// form-kernels with a trial that refuses what it is told to.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "pto_mlir/Kernels/Passes.h"
#include "pto_mlir/Pipelines/Registration.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace pto_mlir;

namespace {

/// A chain of elementwise ops on 4 x 8 elements, named t0, t1, ..
std::string chainOf(unsigned count) {
  std::string text = R"(
    #map = affine_map<(d0, d1) -> (d0, d1)>
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %e = tensor.empty() : tensor<4x8xf32>
  )";
  std::string value = "%x";
  for (unsigned i = 0; i < count; ++i) {
    text += llvm::formatv(R"(
      %{0} = linalg.generic {{indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
          ins({1} : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {{
        ^bb0(%a: f32, %o: f32):
          %s = arith.addf %a, %a : f32
          linalg.yield %s : f32
      } -> tensor<4x8xf32> loc("t{0}")
    )",
                          i, value)
                .str();
    value = "%" + std::to_string(i);
  }
  return text + "return " + value + " : tensor<4x8xf32> }";
}

class PlanTest : public testing::Test {
protected:
  PlanTest() : context(registry()) { context.loadAllAvailableDialects(); }

  static DialectRegistry registry() {
    DialectRegistry all;
    registerDialects(all);
    return all;
  }

  /// Ops per kernel, in order, when kernels of more than `most` ops cannot be built.
  std::vector<unsigned> plan(unsigned count, unsigned most) {
    auto module = parseSourceString<ModuleOp>(chainOf(count), ParserConfig(&context));
    EXPECT_TRUE(module);
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) { return errors.push_back(d.str()), success(); });
    PassManager pm(&context);
    KernelPlans plans;
    plans.trial = [&](func::FuncOp kernel) {
      ++trials;
      return size(kernel) > most ? std::string("more than it holds") : std::string();
    };
    plans.refused = [&](Location loc, StringRef reason) {
      refused.push_back(cast<NameLoc>(loc).getName().str() + ": " + reason.str());
      return false;
    };
    pm.addPass(createFormKernels(FormKernelsOptions(), plans));
    isWhole = succeeded(pm.run(*module));
    std::vector<unsigned> sizes;
    for (auto func : module->getOps<func::FuncOp>())
      if (func.getName() != "main")
        sizes.push_back(size(func));
    return sizes;
  }

  static unsigned size(func::FuncOp kernel) {
    unsigned ops = 0;
    kernel.walk([&](linalg::GenericOp) { ++ops; });
    return ops;
  }

  MLIRContext context;
  bool isWhole = false;
  unsigned trials = 0;
  std::vector<std::string> errors, refused;
};

TEST_F(PlanTest, TakesAKernelThatCanBeBuiltAsItIs) {
  EXPECT_EQ(plan(6, 6), (std::vector<unsigned>{6}));
  EXPECT_TRUE(isWhole);
  EXPECT_EQ(trials, 1u);
}

TEST_F(PlanTest, SplitsUntilThePartsCanBeBuilt) {
  std::vector<unsigned> sizes = plan(12, 3);
  EXPECT_TRUE(isWhole);
  unsigned kinds = 0;
  for (unsigned size : sizes) {
    EXPECT_LE(size, 3u);
    kinds += size > 0;
  }
  EXPECT_GE(kinds, 1u);  // equal parts are one kernel, launched several times
  EXPECT_LE(trials, 7u); // and tried once
}

TEST_F(PlanTest, ReportsEveryOpThatNoKernelHolds) {
  plan(3, 0);
  EXPECT_FALSE(isWhole);
  EXPECT_EQ(refused,
            (std::vector<std::string>{"t0: more than it holds", "t1: more than it holds", "t2: more than it holds"}));
  EXPECT_EQ(errors.size(), 3u);
}

} // namespace
