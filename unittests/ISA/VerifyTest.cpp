// Streams that verifyStream accepts and rejects, with its messages.
#include "pto_mlir/ISA/Verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

using namespace pto_mlir::isa;
using testing::HasSubstr;

namespace {

struct Stream {
  std::vector<uint32_t> words;
  template <class I> Stream &operator<<(const I &insn) {
    encode(insn, words);
    return *this;
  }
};

std::string verify(const Stream &s, Pipe pipe = Pipe::V, CoreKind core = CoreKind::AIV, Arch arch = Arch::a3) {
  auto error = verifyStream(core, pipe, s.words, arch, 3);
  return error ? "@" + std::to_string(error->word) + " " + error->message : "";
}

Tile ub(int64_t address, uint16_t rows, uint16_t cols, ElementType type = ElementType::f32) {
  return {type, Layout::ND, Pad::null, address, rows, cols, rows, cols};
}
Tile boxed(Layout layout, uint16_t rows, uint16_t cols, ElementType type = ElementType::f16) {
  return {type, layout, Pad::null, 0, rows, cols, rows, cols};
}
View view(uint8_t arg, int64_t rows, int64_t cols, ElementType type = ElementType::f32) {
  View v;
  v.arg = arg, v.type = type, v.rank = 2;
  v.sizes[0] = rows, v.sizes[1] = cols, v.strides[0] = cols, v.strides[1] = 1;
  return v;
}

TEST(Verify, Accepts) {
  TAdd add{ub(0, 16, 64), ub(4096, 16, 64), ub(8192, 16, 64)};
  EXPECT_EQ(verify(Stream() << add), "");
  // A loop with a dynamic tail, a jump to the end of the body, and a jump to the end of the stream.
  Tile tail = ub(0, 16, 64);
  tail.validRows = Value::reg(2);
  EXPECT_EQ(verify(Stream() << Loop{1, 0, 100, 16} << Sub{2, 100, Value::reg(1)} << Min{2, Value::reg(2), 16}
                            << SkipIfZero{Value::reg(2), 10} << TAdd{tail, tail, tail} << End{} << SkipIfZero{1, 1}
                            << End{}),
            "@30 end: without a loop");
  EXPECT_EQ(verify(Stream() << Loop{1, 0, 100, 16} << Sub{2, 100, Value::reg(1)} << Min{2, Value::reg(2), 16}
                            << SkipIfZero{Value::reg(2), 10} << TAdd{tail, tail, tail} << End{}),
            "");
  EXPECT_EQ(verify(Stream() << TLoad{boxed(Layout::NZ, 32, 32), view(0, 32, 32, ElementType::f16), Memory::L1},
                   Pipe::MTE2, CoreKind::AIC),
            "");
  Tile acc = boxed(Layout::NZ16, 32, 32, ElementType::f32);
  EXPECT_EQ(
      verify(Stream() << TMatmul{acc, boxed(Layout::ZZ, 32, 64), boxed(Layout::ZN, 64, 32)}, Pipe::M, CoreKind::AIC),
      "");
  EXPECT_EQ(verify(Stream() << TStoreAcc{view(2, 32, 32, ElementType::f16), acc, ReluMode::relu, AtomicMode::none},
                   Pipe::FIX, CoreKind::AIC),
            "");
}

TEST(Verify, Structure) {
  EXPECT_THAT(verify(Stream() << End{}), HasSubstr("@0 end: without a loop"));
  EXPECT_THAT(verify(Stream() << Loop{1, 0, 4, 1}), HasSubstr("a loop has no end"));
  EXPECT_THAT(verify(Stream() << Loop{1, 0, 4, 0} << End{}), HasSubstr("step 0 is not positive"));
  EXPECT_THAT(verify(Stream() << SkipIfZero{1, 5} << End{}), HasSubstr("leaves the stream"));
  EXPECT_THAT(verify(Stream() << SkipIfZero{1, 1} << Mov{1, 2}), HasSubstr("lands within an instruction"));
  EXPECT_THAT(verify(Stream() << Loop{1, 0, 4, 1} << SkipIfZero{1, 2} << End{} << End{}),
              HasSubstr("a jump leaves the loop"));
  EXPECT_THAT(verify(Stream() << BreakIfZero{0}), HasSubstr("@0 break_if_zero: without a loop"));
  EXPECT_EQ(verify(Stream() << Loop{1, 0, 4, 1} << BreakIfZero{Value::reg(1)} << End{}), "");
  EXPECT_THAT(verify(Stream() << Div{1, 5, 0}), HasSubstr("divides by zero"));
  EXPECT_THAT(verify(Stream(), Pipe::M, CoreKind::AIV), HasSubstr("AIV has no such engine"));
  Stream junk;
  junk.words = {0xffffffff, 0};
  EXPECT_THAT(verify(junk), HasSubstr("is no instruction"));
}

TEST(Verify, Registers) {
  EXPECT_THAT(verify(Stream() << Add{2, Value::reg(1), 5}), HasSubstr("@0 add: reads r1, which is not written"));
  // Written only in a body that may run zero times, or after a jump.
  EXPECT_THAT(verify(Stream() << Loop{1, 0, 4, 1} << Mov{2, 7} << End{} << Mov{3, Value::reg(2)}),
              HasSubstr("reads r2"));
  EXPECT_THAT(verify(Stream() << Mov{1, 0} << SkipIfZero{Value::reg(1), 3} << Mov{2, 7} << Mov{3, Value::reg(2)}),
              HasSubstr("reads r2"));
  EXPECT_THAT(
      verify(Stream() << Loop{1, 0, 4, 1} << BreakIfZero{Value::reg(1)} << Mov{2, 7} << End{} << Mov{3, Value::reg(2)}),
      HasSubstr("reads r2"));
  // if / else: both branches write the register.
  EXPECT_EQ(verify(Stream() << Mov{1, 0} << SkipIfZero{Value::reg(1), 6} << Mov{2, 7} << SkipIfZero{0, 3} << Mov{2, 8}
                            << Mov{3, Value::reg(2)}),
            "");
}

TEST(Verify, EngineAndFlags) {
  TAdd add{ub(0, 16, 64), ub(0, 16, 64), ub(0, 16, 64)};
  EXPECT_THAT(verify(Stream() << add, Pipe::MTE2), HasSubstr("tadd: belongs to V, not to MTE2"));
  EXPECT_EQ(verify(Stream() << SetFlag{Pipe::V, Pipe::MTE3, 0}), "");
  EXPECT_THAT(verify(Stream() << SetFlag{Pipe::MTE2, Pipe::V, 0}), HasSubstr("belongs to the stream of MTE2"));
  EXPECT_THAT(verify(Stream() << WaitFlag{Pipe::V, Pipe::MTE2, 0}), HasSubstr("belongs to the stream of MTE2"));
  EXPECT_THAT(verify(Stream() << SetFlag{Pipe::V, Pipe::M, 0}), HasSubstr("AIV lacks one of the engines V, M"));
  EXPECT_THAT(verify(Stream() << SetFlag{Pipe::V, Pipe::MTE2, 8}), HasSubstr("flag id 8 is outside 0..7"));
  EXPECT_THAT(verify(Stream() << Barrier{Pipe::MTE2}), HasSubstr("drains another engine"));
}

TEST(Verify, CrossCoreFlags) {
  auto verifyOn = [](auto insn, Pipe pipe, CoreKind core, Arch arch = Arch::a3) {
    return verify(Stream() << insn, pipe, core, arch);
  };
  EXPECT_EQ(verifyOn(CrossSet{CrossMode::block, 15}, Pipe::FIX, CoreKind::AIC), "");
  EXPECT_EQ(verifyOn(CrossWait{0}, Pipe::S, CoreKind::AIC), "");
  EXPECT_THAT(verifyOn(CrossWait{0}, Pipe::MTE2, CoreKind::AIV), HasSubstr("belongs to the stream of S"));
  EXPECT_EQ(verifyOn(CrossWait{0}, Pipe::MTE2, CoreKind::AIV, Arch::a5), "");
  EXPECT_THAT(verifyOn(CrossSet{CrossMode::block, 16}, Pipe::FIX, CoreKind::AIC),
              HasSubstr("cross-core flag 16 is outside 0..15"));
  EXPECT_THAT(verifyOn(CrossSet{CrossMode::pair, 1}, Pipe::FIX, CoreKind::AIC), HasSubstr("is for vector cores"));
  EXPECT_THAT(verifyOn(CrossSet{CrossMode::lane, 1}, Pipe::FIX, CoreKind::AIC), HasSubstr("mode lane is not on a3"));
  EXPECT_EQ(verifyOn(CrossSet{CrossMode::lane, 31}, Pipe::FIX, CoreKind::AIC, Arch::a5), "");
  EXPECT_EQ(verifyOn(CrossWait{31}, Pipe::FIX, CoreKind::AIC, Arch::a5), "");
  EXPECT_THAT(verifyOn(CrossWait{16}, Pipe::V, CoreKind::AIV, Arch::a5), HasSubstr("outside 0..15"));
}

TEST(Verify, Tiles) {
  auto adds = [](Tile t, Arch arch = Arch::a3) {
    return verify(Stream() << TAdds{t, t, 0}, Pipe::V, CoreKind::AIV, arch);
  };
  EXPECT_EQ(adds(ub(0, 16, 64)), "");
  EXPECT_THAT(adds(ub(16, 16, 64)), HasSubstr("has address 16, UB needs multiples of 32"));
  EXPECT_THAT(adds(ub(192 * 1024 - 4096 + 32, 16, 64)), HasSubstr("ends at byte 196640, UB has 196608"));
  EXPECT_EQ(adds(ub(192 * 1024, 16, 64), Arch::a5), "");
  EXPECT_THAT(adds(ub(0, 16, 63)), HasSubstr("no multiple of 32 bytes"));
  EXPECT_THAT(adds(ub(0, 0, 64)), HasSubstr("empty box"));
  EXPECT_THAT(adds(ub(0, 16, 64, ElementType::bf16)), HasSubstr("element types (bf16, bf16) are not legal on a3"));
  EXPECT_EQ(adds(ub(0, 16, 64, ElementType::bf16), Arch::a5), "");
  Tile big = ub(0, 16, 64);
  big.validRows = 17;
  EXPECT_THAT(adds(big), HasSubstr("valid region of 17x64 in a box of 16x64"));
  Tile dn = ub(0, 16, 64);
  dn.layout = Layout::DN;
  EXPECT_THAT(adds(dn), HasSubstr("cannot have layout DN"));
  EXPECT_THAT(verify(Stream() << TAdds{ub(0, 16, 64), ub(0, 16, 64, ElementType::f16), 0}), HasSubstr("(f32, f16)"));
  // A column part of a wider tile: pitch 64, ends inside the tile.
  Tile part = ub(128, 16, 64);
  part.validCols = 32;
  EXPECT_EQ(adds(part), "");
}

TEST(Verify, Shapes) {
  Tile column{ElementType::f32, Layout::DN, Pad::null, 0, 16, 1, 16, 1};
  Tile row = ub(0, 1, 64);
  EXPECT_EQ(verify(Stream() << TRowsum{column, ub(0, 16, 64)}), "");
  EXPECT_THAT(verify(Stream() << TRowsum{column, ub(0, 8, 64)}),
              HasSubstr("'dst' has a valid region of 16x1, expects 8x1"));
  EXPECT_EQ(verify(Stream() << TColsum{row, ub(0, 16, 64)}), "");
  EXPECT_THAT(verify(Stream() << TColsum{ub(0, 2, 64), ub(0, 16, 64)}), HasSubstr("expects 1x64"));
  EXPECT_EQ(verify(Stream() << TRowexpandadd{ub(0, 16, 64), ub(0, 16, 64), column}), "");
  EXPECT_EQ(verify(Stream() << TRowexpand{ub(0, 16, 64), column}), "");
  EXPECT_THAT(verify(Stream() << TRowexpand{ub(0, 8, 64), column}),
              HasSubstr("'src' has a valid region of 16x1, expects 8x1"));
  EXPECT_EQ(verify(Stream() << TColexpandadd{ub(0, 16, 64), ub(0, 16, 64), row}), "");
  EXPECT_THAT(verify(Stream() << TColexpand{ub(0, 16, 32), row}), HasSubstr("expects 1x32"));
  EXPECT_THAT(verify(Stream() << TTrans{ub(0, 16, 64), ub(0, 16, 64)}), HasSubstr("expects 64x16"));
  EXPECT_THAT(verify(Stream() << TAdd{ub(0, 16, 64), ub(0, 8, 64), ub(0, 16, 64)}),
              HasSubstr("'src0' has a valid region of 8x64"));
  Tile acc = boxed(Layout::NZ16, 32, 32, ElementType::f32);
  EXPECT_THAT(
      verify(Stream() << TMatmul{acc, boxed(Layout::ZZ, 32, 64), boxed(Layout::ZN, 32, 32)}, Pipe::M, CoreKind::AIC),
      HasSubstr("'b' has a valid region of 32x32, expects 64x32"));
  EXPECT_THAT(verify(Stream() << TMatmul{acc, boxed(Layout::ZZ, 32, 64, ElementType::bf16), boxed(Layout::ZN, 64, 32)},
                     Pipe::M, CoreKind::AIC),
              HasSubstr("(f32, bf16, f16) are not legal"));
}

TEST(Verify, Movement) {
  Tile nz = boxed(Layout::NZ, 32, 32);
  EXPECT_THAT(verify(Stream() << TLoad{nz, view(0, 32, 32, ElementType::f16), Memory::UB}, Pipe::MTE2),
              HasSubstr("cannot load a view of layout ND into a tile of layout NZ in UB"));
  EXPECT_THAT(verify(Stream() << TLoad{nz, view(3, 32, 32, ElementType::f16), Memory::L1}, Pipe::MTE2, CoreKind::AIC),
              HasSubstr("kernel argument 3, there are 3"));
  EXPECT_THAT(verify(Stream() << TLoad{nz, view(0, 32, 32, ElementType::f16), Memory::L0A}, Pipe::MTE2, CoreKind::AIC),
              HasSubstr("cannot lie in L0A"));
  EXPECT_THAT(verify(Stream() << TLoad{nz, view(0, 32, 32), Memory::L1}, Pipe::MTE2, CoreKind::AIC),
              HasSubstr("(f16, f32) are not legal"));
}

/// What tests' own architecture lacks (test/isa/TestArchs.td), whatever else its row says.
TEST(Verify, AMissingEngineIsCarriedByAnother) {
  const ArchInfo *arch = findArch("t7");
  ASSERT_TRUE(arch);
  EXPECT_EQ(arch->engineOf(Pipe::MTE3), Pipe::MTE2);
  EXPECT_EQ(arch->engineOf(Pipe::V), Pipe::V);
  EXPECT_FALSE(hasPipe(*arch, CoreKind::AIV, Pipe::MTE3));
  EXPECT_TRUE(hasPipe(*arch, CoreKind::AIV, Pipe::MTE2));
  EXPECT_TRUE(hasPipe(CoreKind::AIV, Pipe::MTE3));
  auto on = [&](const Stream &s, Pipe pipe) { return verify(s, pipe, CoreKind::AIV, arch->arch); };
  Stream store;
  store << TStore{view(0, 16, 64), ub(0, 16, 64), AtomicMode::none};
  EXPECT_EQ(on(store, Pipe::MTE2), "");
  EXPECT_EQ(on(store, Pipe::MTE3), "@0 t7 has no engine MTE3; MTE2 carries out its instructions");
  EXPECT_THAT(verify(store, Pipe::MTE2), HasSubstr("belongs to MTE3, not to MTE2"));
  EXPECT_THAT(on(Stream() << SetFlag{Pipe::MTE2, Pipe::MTE3, 0}, Pipe::MTE2), HasSubstr("lacks one of the engines"));
  EXPECT_EQ(on(Stream() << SetFlag{Pipe::MTE2, Pipe::V, 6}, Pipe::MTE2), "");
  EXPECT_THAT(on(Stream() << SetFlag{Pipe::MTE2, Pipe::V, 7}, Pipe::MTE2), HasSubstr("flag id 7 is outside 0..6"));
  EXPECT_EQ(verify(Stream() << SetFlag{Pipe::MTE2, Pipe::V, 7}, Pipe::MTE2), "");
}

TEST(Verify, FlippedBitsNeverCrash) {
  Tile t = ub(0, 16, 64);
  Stream s;
  s << Loop{1, 0, 4, 1} << TAdd{t, t, t} << SkipIfZero{Value::reg(1), 3} << Mov{2, 7}
    << TRowsum{{ElementType::f32, Layout::DN, Pad::null, 0, 16, 1, 16, 1}, t} << End{};
  ASSERT_EQ(verify(s), "");
  for (size_t bit = 0; bit < s.words.size() * 32; ++bit) {
    Stream flipped = s;
    flipped.words[bit / 32] ^= 1u << bit % 32;
    verify(flipped);
  }
}

} // namespace
