// Whole lines between L2 and HBM: what a launch moves, and what that costs.
#include "pto_mlir/Cost/GlobalMemory.h"
#include "pto_mlir/Cost/Prices.h"
#include "pto_mlir/Cost/Sketch.h"

#include <gtest/gtest.h>

#include <array>

using namespace pto_mlir;
using cost::ByteRuns;
using cost::GlobalPath;
using cost::HbmTraffic;

namespace {

const isa::ChipInfo &a3() { return isa::chipInfo(isa::Arch::a3); }

struct Access {
  GlobalPath path;
  ByteRuns run;
};

/// The traffic of cores that each do these accesses, one after the other.
HbmTraffic trafficOf(const std::vector<Access> &accesses, const isa::ChipInfo &chip = a3(), size_t count = 1) {
  cost::EngineLog log;
  std::vector<ByteRuns> runs;
  for (const Access &access : accesses) {
    cost::Event event;
    event.path = access.path, event.bytes = access.run.length * access.run.count;
    event.firstRun = uint32_t(runs.size()), event.endRun = event.firstRun + 1;
    runs.push_back(access.run);
    log.events.push_back(event);
  }
  std::vector<cost::CoreLog> cores(count);
  for (cost::CoreLog &core : cores)
    core.engines.push_back(log);
  return cost::hbmTraffic(chip, cores, std::vector<std::vector<ByteRuns>>(count, runs));
}

HbmTraffic reading(ByteRuns run, size_t cores = 1) { return trafficOf({{GlobalPath::ToUB, run}}, a3(), cores); }

TEST(HbmTraffic, ComesByTheWholeLine) {
  constexpr uint64_t base = uint64_t(1) << 40;
  EXPECT_DOUBLE_EQ(reading({base, 512, 512, 100}).perByteRead, 1);
  EXPECT_DOUBLE_EQ(reading({base, 512, 512, 100}, 2).perByteRead, 0.5) << "once for both cores";
  EXPECT_DOUBLE_EQ(reading({base, 64, 64, 800}).perByteRead, 1) << "runs of one line are one line";
  EXPECT_DOUBLE_EQ(reading({base, 64, 512, 100}).perByteRead, 8) << "64 bytes of each line";
  EXPECT_DOUBLE_EQ(reading({base + 480, 64, 1024, 100}).perByteRead, 16) << "64 bytes across two lines";
  EXPECT_DOUBLE_EQ(reading({base + 64, 512, 512, 100}).perByteRead, 1.01) << "shifted: one line more";
}

TEST(HbmTraffic, WrittenLinesAreInL2AndGoBackWhenTheyLeaveIt) {
  isa::ChipInfo small = a3();
  small.l2Bytes.value = 64 * small.lineBytes;
  Access fits{GlobalPath::FromUB, {0, 512, 512, 32}}, large{GlobalPath::FromUB, {0, 512, 512, 4096}};
  EXPECT_EQ(trafficOf({fits}, small).perByteWritten, 0);
  double back = trafficOf({large}, small).perByteWritten;
  EXPECT_GT(back, 0.9);
  EXPECT_LT(back, 1) << "what L2 holds at the end has not gone back";
  EXPECT_EQ(trafficOf({fits, {GlobalPath::ToUB, fits.run}}, small).perByteRead, 0);
  // Half of each line: written back as a whole.
  EXPECT_GT(trafficOf({{GlobalPath::FromUB, {0, 256, 512, 4096}}}, small).perByteWritten, 1.8);
}

TEST(HbmTraffic, MoreOfItIsNeverFaster) {
  for (double sharing : {1.0, 24.0, 48.0}) {
    double last = 0;
    for (double hbm = 0; hbm < 20; hbm += 0.25) {
      double now = cost::secondsPerByte(a3(), GlobalPath::ToL1, sharing, hbm);
      EXPECT_GE(now, last * (1 - 1e-12)) << sharing << " cores, " << hbm;
      last = now;
    }
    EXPECT_NEAR(last, 19.75 * sharing / a3().hbmBytesPerSecond, 0.01 * last) << "HBM alone sets the time";
  }
}

TEST(Prices, WholeLinesOfARun) {
  cost::Prices prices("a3");
  EXPECT_EQ(prices.wholeLines(1), 512);
  EXPECT_EQ(prices.wholeLines(512), 512);
  EXPECT_EQ(prices.wholeLines(513), 1024);
}

/// Cycles in which 48 vector cores read a matrix of f32, each its own columns, by tiles of 8 rows, where the matrix
/// begins `shift` bytes behind the beginning of a line.
double readMatrix(int64_t columnsOfCore, int64_t shift) {
  using namespace cost;
  constexpr int64_t kCores = 48, kTiles = 16, kRows = 8;
  Sketch sketch("a3");
  for (unsigned core = 0; core < kCores; ++core) {
    sketch.beginCore(false, core / 2, core % 2);
    for (int64_t i = 0; i < kTiles; ++i) {
      SketchTile tile;
      tile.memory = *memoryNumber("UB"), tile.type = *elementTypeNumber("f32");
      tile.rows = tile.validRows = kRows, tile.cols = tile.validCols = columnsOfCore;
      SketchView view;
      view.type = tile.type, view.rank = 2;
      view.sizes[0] = kRows, view.sizes[1] = columnsOfCore;
      view.strides[0] = kCores * columnsOfCore, view.strides[1] = 1;
      view.offset = shift + (i * kRows * kCores + core) * columnsOfCore * 4;
      EXPECT_TRUE(sketch.note("tload", 4, {&tile, 1}, {}, &view, {}));
    }
  }
  return sketch.cycles();
}

TEST(Sketch, AShiftedMatrixIsNeverFasterThanAnAlignedOne) {
  for (int64_t columns : {32, 128, 256, 512}) {
    double aligned = readMatrix(columns, 0);
    for (int64_t shift : {32, 64, 256, 480}) {
      EXPECT_GE(readMatrix(columns, shift), aligned) << columns << " columns, " << shift << " bytes";
      EXPECT_LT(readMatrix(columns, shift), 1.02 * aligned) << "its lines come once";
    }
  }
}

} // namespace
