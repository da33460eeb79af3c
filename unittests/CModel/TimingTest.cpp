// The timing mode against the published cost model (docs/timing.md): single instructions, overlap and stalls.
#include "TestKernel.h"
#include "pto_mlir/Cost/Cost.h"
#include "pto_mlir/Cost/GlobalMemory.h"

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

using namespace pto_mlir;
using namespace pto_mlir::cmodel;
using namespace pto_mlir::cmodel::test;
using cost::InsnCost;
using isa::ElementType;
using isa::GlobalPath;
using isa::Layout;
using isa::Pipe;

namespace {

template <class I> InsnCost priceOf(const I &insn, isa::Arch arch) {
  isa::DecodedInsn decoded;
  decoded.set(insn);
  return cost::costOf(decoded, isa::chipInfo(arch));
}

template <class I> double alone(const I &insn, isa::Arch arch = isa::Arch::a3) {
  InsnCost c = priceOf(insn, arch);
  return c.head + c.work + c.tail;
}

isa::Tile ub(ElementType type, uint16_t rows, uint16_t cols, uint32_t address = 0) {
  return tile(type, Layout::ND, address, rows, cols);
}

void within(double got, double published, double part) { EXPECT_NEAR(got, published, part * published); }

TEST(Timing, VectorInstructionsOfThePublishedTests) {
  auto f32 = ub(ElementType::f32, 64, 64), f16 = ub(ElementType::f16, 16, 256);
  within(alone(isa::TAdd{f32, f32, f32}), 160, 0.1);
  within(alone(isa::TAdd{f16, f16, f16}), 92, 0.1);
  within(alone(isa::TSub{f32, f32, f32}), 153, 0.1);
  within(alone(isa::TMul{f32, f32, f32}), 168, 0.1);
  within(alone(isa::TMul{f16, f16, f16}), 96, 0.1);
  within(alone(isa::TDiv{f32, f32, f32}), 288, 0.1);
  within(alone(isa::TExp{f32, f32}), 159, 0.1);
  within(alone(isa::TExp{f16, f16}), 95, 0.1);
  within(alone(isa::TSqrt{f32, f32}), 160, 0.1);
  auto column = tile(ElementType::f32, Layout::DN, 0, 64, 1);
  within(alone(isa::TRowsum{column, f32}), 492, 0.1);
  within(alone(isa::TRowmax{column, f32}), 480, 0.1);
  within(alone(isa::TRowexpand{f32, column}), 933, 0.1);
  auto square = ub(ElementType::f32, 128, 128);
  within(alone(isa::TTrans{square, square}), 501, 0.1);
}

TEST(Timing, ConversionsOfThePublishedTests) {
  isa::TCvt cvt{};
  cvt.dst = ub(ElementType::f16, 4, 64), cvt.src = ub(ElementType::f32, 4, 64);
  within(alone(cvt), 33, 0.1);
}

// Every rate must name its source.
TEST(Timing, EveryRateNamesItsSource) {
  auto names = [](std::string_view source) {
    for (const char *known : {"pto-isa cost model", "docs/timing.md", "not published", "as a3", "the chip's paths"})
      if (source.find(known) != std::string_view::npos)
        return true;
    return false;
  };
  for (const isa::InsnInfo &info : isa::allInsns()) {
    EXPECT_TRUE(names(info.cost->source)) << info.mnemonic << ": " << info.cost->source;
    if (info.a5Cost->curves.size())
      EXPECT_TRUE(names(info.a5Cost->source)) << info.mnemonic << ": " << info.a5Cost->source;
  }
  for (isa::Arch arch : {isa::Arch::a3, isa::Arch::a5}) {
    const isa::ChipInfo &chip = isa::chipInfo(arch);
    for (const isa::Sourced *number : {&chip.clock, &chip.launchSeconds, &chip.l2BytesPerSecond,
                                       &chip.hbmBytesPerSecond, &chip.l2Bytes, &chip.lineBytes, &chip.extractFactor})
      EXPECT_TRUE(names(number->source)) << number->source;
  }
}

// Which of the two published forms of an A5 curve applies, and to how many repeats: whole rows are one run of repeats
// of 256 bytes, rows that are cut are priced one by one.
TEST(Timing, VectorInstructionsOfA5ArePricedAsRunsOrAsRows) {
  auto on = [](const auto &insn) { return alone(insn, isa::Arch::a5); };
  auto add = [&](const isa::Tile &t) { return on(isa::TAdd{t, t, t}); };
  auto exp = [&](const isa::Tile &t) { return on(isa::TExp{t, t}); };
  using enum ElementType;
  double square = add(ub(f32, 64, 64));
  EXPECT_DOUBLE_EQ(square, add(ub(f32, 16, 256))) << "the shape of a run does not matter";
  EXPECT_DOUBLE_EQ(square, add(ub(f16, 64, 128))) << "a repeat is 256 bytes";
  double perRepeat = add(ub(f32, 64, 128)) - square;
  EXPECT_NEAR(add(ub(f32, 64, 192)) - add(ub(f32, 64, 128)), perRepeat, 1e-9);
  EXPECT_GT(square, perRepeat) << "what an instruction costs before its first repeat";
  // 100 of 128 columns: as many repeats as whole rows have, and a cost per row on top.
  auto ragged = [](uint16_t rows) { return tile(f32, Layout::ND, 0, rows, 128, rows, 100); };
  EXPECT_GT(add(ragged(64)), add(ub(f32, 64, 128)) + 64);
  EXPECT_NEAR(add(ragged(64)) - add(ragged(32)), 2 * (add(ragged(32)) - add(ragged(16))), 1e-9);
  // Half precision has curves of its own where the chip computes in f32.
  EXPECT_GT(exp(ub(f16, 64, 128)), 1.5 * exp(ub(f32, 64, 64)));
}

// benchmarks/silicon/mx.py writes the published MXFP4 kernel with elements of 8 bits and half of k: the same price.
TEST(Timing, TwoElementsOfFourBitsCostWhatOneOfEightCosts) {
  auto price = [](ElementType type, uint16_t depth) {
    auto scale = [](uint16_t r, uint16_t c, Layout l) { return tile(ElementType::f8E8M0, l, 0, r, c); };
    auto groups = uint16_t(depth / 32);
    auto acc = tile(ElementType::f32, Layout::NZ16, 0, 256, 256), a = tile(type, Layout::NZ, 0, 256, depth),
         b = tile(type, Layout::ZN, 0, depth, 256), panel = tile(type, Layout::NZ, 0, 256, uint16_t(2 * depth));
    return std::vector<double>{
        alone(isa::TMatmulMx{acc, a, scale(256, groups, Layout::ZZ), b, scale(groups, 256, Layout::NN)}, isa::Arch::a5),
        alone(isa::TExtractL0a{a, panel, 0, 0}, isa::Arch::a5),
        alone(isa::TExtractL0b{b, tile(type, Layout::ZN, 0, uint16_t(2 * depth), 256), 0, 0}, isa::Arch::a5)};
  };
  EXPECT_EQ(price(ElementType::f4E2M1, 256), price(ElementType::f8E5M2, 128));
}

TEST(Timing, ProductsOfThePublishedTests) {
  auto product = [](ElementType type, ElementType acc, uint16_t m, uint16_t k, uint16_t n) {
    return alone(isa::TMatmul{tile(acc, Layout::NZ16, 0, m, n), tile(type, Layout::ZZ, 0, m, k),
                              tile(type, Layout::ZN, 0, k, n)});
  };
  EXPECT_EQ(product(ElementType::f16, ElementType::f32, 40, 50, 60), 54);
  EXPECT_EQ(product(ElementType::i8, ElementType::i32, 6, 7, 8), 7);
  EXPECT_EQ(product(ElementType::f32, ElementType::f32, 120, 110, 50), 902);
}

// A view of boxes is as many runs as it has boxes, which cover each element's bytes once.
TEST(Timing, BoxesOfAViewAreRuns) {
  constexpr int64_t rows = 40, cols = 24, boxRows = 16, boxCols = 16;
  for (int64_t inner : {1, 2}) { // elements side by side, or every second one
    isa::View v = view(0, ElementType::f16, 1, 1);
    v.layout = Layout::NZ, v.rank = 5;
    const int64_t sizes[] = {1, 2, 3, boxRows, boxCols},
                  strides[] = {0, 3 * boxRows * boxCols * inner, boxRows * boxCols * inner, boxCols * inner, inner};
    for (unsigned i = 0; i < 5; ++i)
      v.sizes[i] = isa::Value(sizes[i]), v.strides[i] = isa::Value(strides[i]);
    std::vector<cost::ByteRuns> runs;
    cost::viewRuns(v, 1000, rows, cols, runs);
    EXPECT_EQ(runs.size(), inner == 1 ? 6u : 72u);
    std::multiset<uint64_t> bytes, expected;
    for (const cost::ByteRuns &run : runs)
      for (uint64_t i = 0; i < run.count; ++i)
        for (uint64_t b = 0; b < run.length; ++b)
          bytes.insert(run.begin + i * uint64_t(run.pitch) + b);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < cols; ++c)
        for (int64_t b = 0; b < 2; ++b)
          expected.insert(uint64_t(1000 +
                                   2 * (c / boxCols * strides[1] + r / boxRows * strides[2] + r % boxRows * strides[3] +
                                        c % boxCols * strides[4]) +
                                   b));
    EXPECT_EQ(bytes, expected);
  }
}

struct Timed {
  TestDevice device{1, levelApi(), "timing"};
  pto_profile run(const TestKernel &k, uint32_t blocks = 1, size_t floats = 1 << 18) {
    args = {device.upload(std::vector<float>(floats)), device.upload(std::vector<float>(floats))};
    EXPECT_EQ(device.run(k, args, blocks), PTO_OK) << device.error();
    return device.profile();
  }
  std::vector<pto_arg> args;
};

constexpr unsigned v = 7, mte2 = 8;

TEST(Timing, IndependentVectorInstructionsOverlapTheirEnds) {
  auto chain = [](bool dependent) {
    TestKernel k(isa::CoreKind::AIV, 2);
    for (uint32_t i = 0; i < 8; ++i) {
      uint32_t to = dependent ? 0 : 16384 * (i % 4);
      k.add(Pipe::V, isa::TExpands{ub(ElementType::f32, 64, 64, to), isa::Value(0)});
    }
    Timed t;
    return t.run(k).engine_busy[v];
  };
  within(chain(true), 8 * (64 + 24), 0.03);
  EXPECT_LT(chain(false), chain(true) - 4 * 20);
}

TEST(Timing, EnginesWaitForEachOther) {
  TestKernel k(isa::CoreKind::AIV, 2);
  isa::Tile t = ub(ElementType::f32, 128, 128);
  k.add(Pipe::MTE2, isa::TLoad{t, view(0, ElementType::f32, 128, 128), isa::Memory::UB});
  k.sync(Pipe::MTE2, Pipe::V).add(Pipe::V, isa::TAdd{t, t, t});
  Timed timed;
  pto_profile p = timed.run(k);
  EXPECT_EQ(p.launches, 1u);
  // 64 KiB that are not in L2, at the bandwidth of a single core.
  within(p.engine_busy[mte2], (65536 / (100.9 * 1024 * 1024 * 1024) + 60e-9) * 1.8e9, 0.02);
  EXPECT_GE(p.engine_stalled[v], p.engine_busy[mte2]);
  EXPECT_NEAR(p.cycles, 5.9e-6 * 1.8e9 + p.engine_busy[mte2] + p.engine_busy[v] + 14, 16);
  EXPECT_NEAR(p.seconds * 1.8e9, p.cycles, 1e-3);
}

// 32 bytes of each row: HBM moves a whole line for them, two where they lie across its end.
TEST(Timing, LinesComeFromHbmAsAWhole) {
  auto cycles = [](int64_t rowStride, int64_t offset) {
    TestKernel k(isa::CoreKind::AIV, 2);
    k.add(Pipe::MTE2, isa::TLoad{ub(ElementType::f32, 1024, 8), view(0, ElementType::f32, 1024, 8, rowStride, offset),
                                 isa::Memory::UB});
    Timed timed;
    return timed.run(k).engine_busy[mte2] - 60e-9 * 1.8e9;
  };
  double bytes = 1024 * 32, line = 512 / (24 * 42.7e9) * 1.8e9;
  within(cycles(8, 0), bytes / (100.9 * 1024 * 1024 * 1024) * 1.8e9, 0.02);
  within(cycles(128, 0), 1024 * line, 0.02);
  within(cycles(256, 0), 1024 * line, 0.02);
  within(cycles(256, 496), 2048 * line, 0.02);
  within(cycles(128, 496), 1025 * line, 0.02); // the next row uses the second line
}

TEST(Timing, CoresShareMemory) {
  TestKernel k(isa::CoreKind::AIV, 2);
  isa::Tile t = ub(ElementType::f32, 128, 128);
  for (int i = 0; i < 4; ++i)
    k.add(Pipe::MTE2, isa::TLoad{t, view(0, ElementType::f32, 128, 128), isa::Memory::UB});
  auto cycles = [&](uint32_t blocks) {
    Timed timed;
    return timed.run(k, blocks).engine_busy[mte2];
  };
  EXPECT_GT(cycles(24), 1.2 * cycles(1));
  EXPECT_NEAR(cycles(48), 2 * cycles(24), 0.1 * cycles(48)); // two rounds on the 24 blocks of the chip
}

TEST(Timing, WritesATrace) {
  std::string path = testing::TempDir() + "trace.json";
  {
    TestDevice device(1, levelApi(), ("timing:" + path).c_str());
    TestKernel k(isa::CoreKind::AIV, 1);
    k.add(Pipe::V, isa::TExpands{ub(ElementType::f32, 64, 64), isa::Value(0)});
    EXPECT_EQ(device.run(k, {device.upload(std::vector<float>(1))}), PTO_OK);
  }
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  for (const char *part : {"\"AIV0.0\"", "\"name\":\"V\"", "\"texpands\"", "\"kernel\":\"test\"", "]}"})
    EXPECT_NE(text.str().find(part), std::string::npos) << part;
  std::remove(path.c_str());

  pto_device_options options{"a3", "timing:/nowhere/at/all.json", 1};
  pto_device_context *context = nullptr;
  EXPECT_EQ(levelApi()->open(&options, &context), PTO_ERROR_INVALID);
}

} // namespace
