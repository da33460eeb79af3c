// What choosers ask, against the table's own rows and the sources that docs/timing.md names.
#include "pto_mlir/Cost/Prices.h"
#include "pto_mlir/Cost/Cost.h"

#include <gtest/gtest.h>

using namespace pto_mlir;
using cost::Prices;
using cost::Way;

namespace {

TEST(Prices, LaunchAndCoresAreTheChips) {
  for (const char *name : {"a3", "a5"}) {
    const isa::ArchInfo &arch = *isa::findArch(name);
    const isa::ChipInfo &chip = isa::chipInfo(arch.arch);
    Prices prices(name);
    EXPECT_DOUBLE_EQ(prices.launch(), chip.dispatchSeconds * chip.clock);
    EXPECT_EQ(prices.vectorCores(), int64_t(arch.blocks) * arch.vectorCores);
  }
  EXPECT_NEAR(Prices("a3").launch(), 1710, 1);
  EXPECT_EQ(Prices("a3").vectorCores(), 48);
  EXPECT_EQ(Prices("a3").flag(), 1);
}

TEST(Prices, TransfersStartLateAndShareL2) {
  Prices a3("a3");
  EXPECT_NEAR(a3.start(Way::ToUB), 108, 0.01);  // 60 ns
  EXPECT_NEAR(a3.start(Way::ToL1), 64.8, 0.01); // 36 ns
  EXPECT_NEAR(a3.start(Way::FromUB), 104.4, 0.01);
  EXPECT_EQ(a3.start(Way::FromL0C), 0);
  // 100.9 GiB/s of a core alone, 169 GB/s of L2 for each of 24 blocks: the smaller one holds.
  EXPECT_NEAR(1 / a3.perByte(Way::ToUB), 100.9 * (1 << 30) / 1.8e9, 0.01);
  EXPECT_NEAR(1 / a3.perByte(Way::ToL1), 169e9 / 1.8e9, 0.01);
  EXPECT_NEAR(1 / a3.perByte(Way::FromL0C), 130e9 / 1.8e9, 0.01);
  EXPECT_DOUBLE_EQ(a3.transfer(Way::ToUB, 4096), a3.start(Way::ToUB) + 4096 * a3.perByte(Way::ToUB));
  EXPECT_LT(a3.perByte(Way::FromUB), a3.perByte(Way::FromL1));
}

TEST(Prices, ReadersShareWhatIsNotInL2) {
  Prices a3("a3");
  double alone = a3.readPerByte(Way::ToL1, 1, 0);
  EXPECT_DOUBLE_EQ(a3.readPerByte(Way::ToL1, 1, 1), alone); // one core has all of HBM
  EXPECT_DOUBLE_EQ(a3.readPerByte(Way::ToL1, 24, 0), alone);
  EXPECT_NEAR(a3.readPerByte(Way::ToL1, 24, 1), 1.8e9 / 42.7e9, 1e-6);
  EXPECT_NEAR(a3.readPerByte(Way::ToL1, 24, 0.5), (alone + 1.8e9 / 42.7e9) / 2, 1e-6);
  EXPECT_NEAR(a3.readPerByte(Way::ToL1, 24, 2), 2 * 1.8e9 / 42.7e9, 1e-6); // half of each line is used
  EXPECT_GT(a3.readPerByte(Way::ToL1, 48, 0), alone);
}

TEST(Prices, CubeEngines) {
  Prices a3("a3");
  EXPECT_EQ(a3.productHead(), 6);
  EXPECT_EQ(a3.productStep(false), 1);
  EXPECT_EQ(a3.productStep(true), 2);
  EXPECT_NEAR(1 / a3.extractPerByte(false), 441.0 * (1 << 30) / 1.29 / 1.8e9, 0.01);
  EXPECT_NEAR(a3.extractPerByte(true), 2 * a3.extractPerByte(false), 1e-9);
}

TEST(Prices, VectorInstructionsAreTheTables) {
  Prices a3("a3");
  auto f32 = [](uint16_t rows, uint16_t cols) {
    isa::Tile t;
    t.type = isa::ElementType::f32, t.rows = rows, t.cols = cols, t.validRows = rows, t.validCols = cols;
    return t;
  };
  isa::DecodedInsn insn{};
  insn.set(isa::TExp{f32(16, 64), f32(16, 64)});
  cost::InsnCost exp = cost::costOf(insn, isa::chipInfo(isa::Arch::a3));
  EXPECT_DOUBLE_EQ(a3.vector("texp", 16, 64, 4), exp.head + exp.work + exp.tail);
  // A row of 64 values: one repeat; f16 has half as many.
  EXPECT_DOUBLE_EQ(a3.vector("tadd", 64, 64, 4), 10 + 2 * 64 + 14);
  EXPECT_DOUBLE_EQ(a3.vector("tadd", 64, 64, 2), 10 + 2 * 32 + 14);
  EXPECT_DOUBLE_EQ(a3.vector("tcolsum", 100, 64, 4), 8 + 19 * 100 + 12);
  EXPECT_GT(a3.vector("tcolsum", 100, 128, 4), a3.vector("tcolsum", 100, 64, 4));
}

TEST(Prices, RowsAreAddedByHalves) {
  Prices a3("a3");
  // 32, 16, .. 1 rows added, each with a head and a tail of its own; the rows without a partner are copied first.
  EXPECT_DOUBLE_EQ(a3.foldedRows(64, 64, 4), 6 * 24 + 2 * 63);
  EXPECT_DOUBLE_EQ(a3.foldedRows(5, 64, 4), a3.vector("tmov", 3, 64, 4) + 3 * 24 + 2 * (1 + 2 + 1));
  EXPECT_EQ(a3.foldedRows(1, 64, 4), 0);
}

TEST(Prices, AnOperationIsAHeadAndWhatItsElementsTake) {
  Prices a3("a3");
  EXPECT_EQ(a3.operation(), 24);
  EXPECT_DOUBLE_EQ(a3.operationPerElement(), 1.0 / 32);
  EXPECT_DOUBLE_EQ(a3.operation() + 4096 * a3.operationPerElement(), a3.vector("tadd", 64, 64, 4));
  EXPECT_NEAR(Prices("a5").operationPerElement(), 1.247 / 64, 1e-6);
}

} // namespace
