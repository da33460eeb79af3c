// The timing mode against the published cost model (docs/timing.md): single instructions, overlap and stalls.
#include "TestKernel.h"
#include "pto_mlir/Cost/Cost.h"

#include <cstdio>
#include <fstream>
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
                                       &chip.hbmBytesPerSecond, &chip.l2Bytes, &chip.extractFactor})
      EXPECT_TRUE(names(number->source)) << number->source;
  }
}

// pto-isa cost model, A5 vector curves: runs without gaps, and separate rows.
TEST(Timing, VectorInstructionsOfA5) {
  auto on = [](const auto &insn) { return alone(insn, isa::Arch::a5); };
  auto f32 = ub(ElementType::f32, 64, 64), f16 = ub(ElementType::f16, 64, 128);
  EXPECT_NEAR(on(isa::TAdd{f32, f32, f32}), 1.247 * 64 + 55.07, 0.01);
  EXPECT_NEAR(on(isa::TAdd{f16, f16, f16}), 1.247 * 64 + 55.07, 0.01);
  EXPECT_NEAR(on(isa::TExp{f16, f16}), 3.762 * 64 + 65.93, 0.01);
  auto ragged = tile(ElementType::f32, Layout::ND, 0, 64, 128, 64, 100);
  EXPECT_NEAR(on(isa::TMul{ragged, ragged, ragged}), (1.871 * 2 + 2.912) * 64 + 44.84, 0.01);
  isa::TCvt cvt{};
  cvt.dst = f32, cvt.src = ub(ElementType::f8E4M3FN, 64, 64);
  EXPECT_NEAR(on(cvt), 3.934 * 64 + 81.02, 0.01);
}

// docs/timing.md, published rows: the MX product of 8192 cubed on 32 cores with tiles of 128 x 128 by 128 x 256.
// Compares the busy share of each engine in the published 1.4749 ms.
TEST(Timing, SharesOfThePublishedMxProduct) {
  const isa::ChipInfo &chip = isa::chipInfo(isa::Arch::a5);
  double steps = 64.0 * 32 * 64 / 32, whole = 1.4749e-3 * chip.clock;
  auto f8 = ElementType::f8E4M3FN;
  auto acc = tile(ElementType::f32, Layout::NZ16, 0, 128, 256), a = tile(f8, Layout::NZ, 0, 128, 128),
       b = tile(f8, Layout::ZN, 0, 128, 256);
  auto scale = [](uint16_t r, uint16_t c, Layout l) { return tile(ElementType::f8E8M0, l, 0, r, c); };
  auto share = [&](double cycles, double times) { return cycles * times / whole; };
  EXPECT_NEAR(
      share(alone(isa::TMatmulMx{acc, a, scale(128, 4, Layout::ZZ), b, scale(4, 256, Layout::NN)}, chip.arch), steps),
      0.901, 0.05);
  auto from = tile(f8, Layout::NZ, 0, 128, 256);
  double extract = alone(isa::TExtractL0a{a, tile(f8, Layout::NZ, 0, 128, 128), 0, 0}, chip.arch) +
                   alone(isa::TExtractL0b{b, from, 0, 0}, chip.arch);
  EXPECT_NEAR(share(extract, steps), 0.562, 0.03);
  // fp8 codes plus one scale per 32 of them; each byte misses L2 once.
  double cold = 2 * 8192.0 * 8192 / (64 * 32 * (128.0 + 256) * 8192), l2 = chip.l2BytesPerSecond / 32,
         hbm = chip.hbmBytesPerSecond / 32;
  double loads = (128.0 + 256) * (128 + 4) * ((1 - cold) / l2 + cold / hbm) * chip.clock;
  EXPECT_NEAR(share(loads, steps), 0.996, 0.05);
  EXPECT_NEAR(share(8192.0 * 8192 * 2 / 32 / chip.pathBytesPerSecond[unsigned(GlobalPath::FromL0C)] * chip.clock, 1),
              0.026, 0.003);
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
  for (const char *part : {"\"AIV0.0\"", "\"name\": \"V\"", "\"texpands\"", "\"kernel\": \"test\"", "]}"})
    EXPECT_NE(text.str().find(part), std::string::npos) << part;
  std::remove(path.c_str());

  pto_device_options options{"a3", "timing:/nowhere/at/all.json", 1};
  pto_device_context *context = nullptr;
  EXPECT_EQ(levelApi()->open(&options, &context), PTO_ERROR_INVALID);
}

} // namespace
