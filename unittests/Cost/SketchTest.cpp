// A kernel's time before there are commands: rows that ops become, what engines wait for, what overlaps.
#include "pto_mlir/Cost/Sketch.h"
#include "pto_mlir/Cost/Prices.h"

#include <gtest/gtest.h>

using namespace pto_mlir::cost;

namespace {

constexpr unsigned kV = 1, kM = 2, kMTE1 = 3, kMTE2 = 4, kMTE3 = 5, kFIX = 10;

SketchTile tile(const char *memory, int64_t rows, int64_t cols, uint64_t address, unsigned layout = 0) {
  SketchTile t;
  t.memory = *memoryNumber(memory), t.type = *elementTypeNumber("f32"), t.layout = layout;
  t.rows = t.validRows = rows, t.cols = t.validCols = cols, t.address = address;
  return t;
}

SketchView view(unsigned arg, int64_t rows, int64_t cols, int64_t offset) {
  SketchView v;
  v.arg = arg, v.type = *elementTypeNumber("f32"), v.rank = 2, v.offset = offset;
  v.sizes[0] = rows, v.sizes[1] = cols, v.strides[0] = cols, v.strides[1] = 1;
  return v;
}

SketchAccess all(const SketchTile &t, bool write) {
  return {t.memory, t.address, t.address + uint64_t(t.rows * t.cols * 4), write};
}

constexpr int64_t kRows = 32, kCols = 128, kBytes = kRows * kCols * 4;

/// Load, exp, store, so many times, through so many tiles.
double stream(int64_t trips, int64_t buffers) {
  Sketch sketch("a3");
  sketch.beginCore(false, 0, 0);
  for (int64_t i = 0; i < trips; ++i) {
    uint64_t at = uint64_t(i % buffers) * kBytes;
    SketchTile in = tile("UB", kRows, kCols, at), out = tile("UB", kRows, kCols, (1 << 20) + at);
    SketchView from = view(0, kRows, kCols, i * kBytes), to = view(1, kRows, kCols, i * kBytes);
    SketchAccess write[] = {all(in, true)}, both[] = {all(in, false), all(out, true)}, read[] = {all(out, false)};
    EXPECT_TRUE(sketch.note("tload", kMTE2, {&in, 1}, {}, &from, write));
    EXPECT_TRUE(sketch.note("texp", kV, {&out, 1}, {&in, 1}, nullptr, both));
    EXPECT_TRUE(sketch.note("tstore", kMTE3, {}, {&out, 1}, &to, read));
  }
  return sketch.cycles();
}

TEST(Sketch, OneTileIsOneEngineAfterTheOther) {
  Prices a3("a3");
  // A core alone has the whole way to L2 for itself, and all of HBM.
  double expected = a3.transfer(Way::ToUB, kBytes) + a3.vector("texp", kRows, kCols, 4) + a3.start(Way::FromUB) +
                    kBytes * a3.readPerByte(Way::FromUB, 1, 0);
  EXPECT_NEAR(stream(1, 1), expected, 8); // flags take a cycle
}

TEST(Sketch, TwoBuffersOverlap) {
  Prices a3("a3");
  double trip = a3.transfer(Way::ToUB, kBytes);
  ASSERT_GT(trip, a3.vector("texp", kRows, kCols, 4));
  ASSERT_GT(trip, a3.transfer(Way::FromUB, kBytes));
  double apart = stream(1, 1), single = stream(16, 1), twice = stream(16, 2);
  EXPECT_NEAR(twice, apart + 15 * trip, 0.05 * twice);
  EXPECT_GT(single, 1.2 * twice);
  EXPECT_LT(single, 16 * apart);
}

TEST(Sketch, WithoutSharedBytesNobodyWaits) {
  auto run = [](bool shared) {
    Sketch sketch("a3");
    sketch.beginCore(false, 0, 0);
    SketchTile in = tile("UB", kRows, kCols, 0), other = tile("UB", kRows, kCols, shared ? 0 : kBytes),
               out = tile("UB", kRows, kCols, 2 * kBytes);
    SketchView from = view(0, kRows, kCols, 0);
    SketchAccess write[] = {all(in, true)}, both[] = {all(other, false), all(out, true)};
    EXPECT_TRUE(sketch.note("tload", kMTE2, {&in, 1}, {}, &from, write));
    EXPECT_TRUE(sketch.note("texp", kV, {&out, 1}, {&other, 1}, nullptr, both));
    return sketch.cycles();
  };
  EXPECT_GT(run(true), run(false) + 50);
}

TEST(Sketch, MovesAreRowsByTheirMemories) {
  Prices a3("a3");
  Sketch sketch("a3");
  sketch.beginCore(true, 0, 0);
  SketchTile l1 = tile("L1", 64, 64, 0, 2), left = tile("L0A", 64, 64, 0, 4), right = tile("L0B", 64, 64, 0, 3),
             acc = tile("L0C", 64, 64, 0, 6);
  SketchTile operands[] = {left, right};
  EXPECT_TRUE(sketch.note("textract", kMTE1, {&left, 1}, {&l1, 1}, nullptr, {}));
  EXPECT_TRUE(sketch.note("tmov", kMTE1, {&right, 1}, {&l1, 1}, nullptr, {}));
  double extracts = 64 * 64 * 4 * (a3.extractPerByte(false) + a3.extractPerByte(true));
  EXPECT_NEAR(sketch.cycles(), extracts, 1);
  EXPECT_TRUE(sketch.note("tmatmul", kM, {&acc, 1}, operands, nullptr, {}));
  SketchView to = view(0, 64, 64, 0);
  EXPECT_TRUE(sketch.note("tstore", kFIX, {}, {&acc, 1}, &to, {}));
}

TEST(Sketch, OneNameIsSeveralRowsByItsOperands) {
  SketchTile a = tile("UB", 1, 64, 0), b = tile("UB", 1, 64, 1024), out = tile("UB", 1, 128, 4096);
  SketchTile two[] = {a, b};
  Sketch sketch("a3");
  sketch.beginCore(false, 0, 0);
  EXPECT_TRUE(sketch.note("tgather", kV, {&out, 1}, {&a, 1}, nullptr, {})); // by a mask
  EXPECT_TRUE(sketch.note("tmrgsort", kV, {&out, 1}, {&a, 1}, nullptr, {}));
  double before = sketch.cycles();
  EXPECT_TRUE(sketch.note("tmrgsort", kV, {&out, 1}, two, nullptr, {}));
  EXPECT_GT(sketch.cycles(), before);
}

TEST(Sketch, ScratchIsNoOperand) {
  Sketch with("a3"), without("a3");
  SketchTile in = tile("UB", 32, 64, 0), out = tile("UB", 32, 1, 1 << 16, 1), scratch = tile("UB", 32, 64, 1 << 17);
  SketchTile written[] = {scratch, out};
  with.beginCore(false, 0, 0);
  without.beginCore(false, 0, 0);
  EXPECT_TRUE(with.note("trowsum", kV, written, {&in, 1}, nullptr, {}));
  EXPECT_TRUE(without.note("trowsum", kV, {&out, 1}, {&in, 1}, nullptr, {}));
  EXPECT_GT(without.cycles(), 0);
  EXPECT_DOUBLE_EQ(with.cycles(), without.cycles());
}

TEST(Sketch, WhatIsNoRowIsSaid) {
  Sketch sketch("a3");
  sketch.beginCore(false, 0, 0);
  SketchTile t = tile("UB", 8, 64, 0);
  EXPECT_FALSE(sketch.note("no_such_op", kV, {&t, 1}, {&t, 1}, nullptr, {}));
  EXPECT_FALSE(sketch.note("tadd", kV, {&t, 1}, {}, nullptr, {}));     // its operands are missing
  EXPECT_FALSE(sketch.note("tload", kMTE2, {&t, 1}, {}, nullptr, {})); // its view is
  EXPECT_FALSE(memoryNumber("L7"));
  EXPECT_FALSE(elementTypeNumber("f7"));
}

/// The cube core of a block makes a tile, the vector cores wait for its flag.
TEST(Sketch, FlagsBetweenCoresOrderThem) {
  auto run = [](bool waits) {
    Sketch sketch("a3");
    SketchTile acc = tile("L0C", 64, 64, 0, 6), ub = tile("UB", 32, 64, 0);
    SketchView slot = view(0, 64, 64, 0);
    sketch.beginCore(true, 0, 0);
    EXPECT_TRUE(sketch.note("tstore", kFIX, {}, {&acc, 1}, &slot, {}));
    sketch.raise(kFIX, 0);
    for (unsigned subblock : {0u, 1u}) {
      sketch.beginCore(false, 0, subblock);
      unsigned pipes[] = {kMTE2, kV};
      if (waits)
        sketch.await(pipes, 0);
      SketchView half = view(0, 32, 64, subblock * 32 * 64 * 4);
      EXPECT_TRUE(sketch.note("tload", kMTE2, {&ub, 1}, {}, &half, {}));
    }
    return sketch.cycles();
  };
  EXPECT_GT(run(true), run(false) + 100);
}

} // namespace
