// Layout formulas against hand-computed offsets (pto-isa 2.1).
#include "pto_mlir/ISA/Table.h"

#include <gtest/gtest.h>

#include <set>

using namespace pto_mlir::isa;

TEST(Layout, Offsets) {
  // f16, 32x48: boxes of 16x16.
  EXPECT_EQ(elementOffset(Layout::ND, ElementType::f16, 32, 48, 5, 7), 5u * 48 + 7);
  EXPECT_EQ(elementOffset(Layout::DN, ElementType::f16, 32, 48, 5, 7), 7u * 32 + 5);
  EXPECT_EQ(elementOffset(Layout::NZ, ElementType::f16, 32, 48, 17, 18), 1u * 32 * 16 + 256 + 16 + 2);
  EXPECT_EQ(elementOffset(Layout::ZN, ElementType::f16, 32, 48, 17, 18), 1u * 48 * 16 + 256 + 2 * 16 + 1);
  EXPECT_EQ(elementOffset(Layout::ZZ, ElementType::f16, 32, 48, 17, 18), 1u * 48 * 16 + 256 + 16 + 2);
  EXPECT_EQ(elementOffset(Layout::NN, ElementType::f16, 32, 48, 17, 18), 1u * 32 * 16 + 256 + 2 * 16 + 1);
  // f32: 16x8 boxes in rows-outer layouts, 8x16 in the others, 16x16 in L0C.
  EXPECT_EQ(elementOffset(Layout::NZ, ElementType::f32, 16, 16, 3, 9), 128u + 3 * 8 + 1);
  EXPECT_EQ(elementOffset(Layout::ZN, ElementType::f32, 16, 16, 9, 3), 128u + 3 * 8 + 1);
  EXPECT_EQ(elementOffset(Layout::NZ16, ElementType::f32, 32, 32, 17, 18), 512u + 256 + 16 + 2);
}

TEST(Layout, EveryLayoutIsAPermutation) {
  for (Layout layout : {Layout::ND, Layout::DN, Layout::NZ, Layout::ZN, Layout::ZZ, Layout::NN, Layout::NZ16})
    for (ElementType type : {ElementType::f32, ElementType::f16, ElementType::i8}) {
      std::set<uint64_t> offsets;
      for (unsigned r = 0; r < 64; ++r)
        for (unsigned c = 0; c < 96; ++c)
          offsets.insert(elementOffset(layout, type, 64, 96, r, c));
      EXPECT_EQ(offsets.size(), 64u * 96);
      EXPECT_EQ(*offsets.rbegin(), 64u * 96 - 1);
      EXPECT_EQ(tileExtent(layout, type, 64, 96, 64, 96), 64u * 96 * elementBits(type) / 8);
    }
}

TEST(Layout, ExtentOfAPart) {
  EXPECT_EQ(tileExtent(Layout::ND, ElementType::f32, 16, 64, 2, 3), (64u + 3) * 4);
  EXPECT_EQ(tileExtent(Layout::DN, ElementType::f32, 16, 64, 2, 3), (2u * 16 + 2) * 4);
  EXPECT_EQ(tileExtent(Layout::NZ, ElementType::f16, 32, 32, 1, 17), (32u * 16 + 256) * 2);
  EXPECT_EQ(tileExtent(Layout::ND, ElementType::f32, 16, 64, 0, 3), 0u);
}

TEST(Table, Rows) {
  std::set<unsigned> opcodes;
  std::set<std::string> mnemonics;
  for (const InsnInfo &info : allInsns()) {
    EXPECT_TRUE(opcodes.insert(unsigned(info.opcode)).second) << info.mnemonic;
    EXPECT_TRUE(mnemonics.insert(info.mnemonic).second) << info.mnemonic;
    EXPECT_EQ(findInsn(unsigned(info.opcode)), &info);
    EXPECT_EQ(findInsn(std::string_view(info.mnemonic)), &info);
  }
  EXPECT_EQ(allInsns().size(), kNumInsns);
  EXPECT_EQ(findInsn(0u), nullptr);
  EXPECT_EQ(findInsn(1023u), nullptr);
  EXPECT_EQ(findInsn("nonsense"), nullptr);
}

TEST(Table, Architectures) {
  ASSERT_NE(findArch("a3"), nullptr);
  EXPECT_EQ(findArch("a3")->memory(Memory::UB).bytes, 192u * 1024);
  EXPECT_EQ(findArch("a5")->memory(Memory::L0C).bytes, 256u * 1024);
  EXPECT_EQ(findArch("a4"), nullptr);
  EXPECT_TRUE(hasPipe(CoreKind::AIC, Pipe::FIX));
  EXPECT_FALSE(hasPipe(CoreKind::AIV, Pipe::M));
  EXPECT_FALSE(hasPipe(CoreKind(7), Pipe::S));
}
