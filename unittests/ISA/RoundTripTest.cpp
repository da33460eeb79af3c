// For every row: random operands -> words -> struct -> words, and text.
#include "pto_mlir/ISA/Codec.h"

#include <gtest/gtest.h>

#include <random>

using namespace pto_mlir::isa;

namespace {

// Fills an instruction with random legal field values; `registers`: how often a value is a register.
struct Filler {
  const InsnInfo &info;
  std::mt19937 &random;
  double registers;

  int64_t number(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }
  Value value(int64_t low, int64_t high) {
    if (std::bernoulli_distribution(registers)(random))
      return Value::reg(unsigned(number(0, 63)));
    return Value(number(low, high));
  }
  void integer(unsigned, Value &v) { v = value(INT32_MIN, INT32_MAX); }
  void scalar(unsigned, Value &v) { v = value(0, UINT32_MAX); }
  void wide(unsigned, int64_t &v) { v = number(INT64_MIN, INT64_MAX); }
  void dst(unsigned, uint8_t &v) { v = uint8_t(number(0, 63)); }
  void attr(unsigned k, uint32_t &word, bool) {
    word = 0;
    for (const FieldInfo &f : info.operands[k].fields) {
      uint32_t v;
      do
        v = f.values ? uint32_t(number(0, int64_t(f.numValues) - 1)) : uint32_t(number(0, (int64_t(1) << f.width) - 1));
      while (f.values && !f.values[v]);
      word |= v << f.shift;
    }
  }
  void tile(unsigned, Tile &t) {
    t = {ElementType(number(0, kNumElementTypes - 1)),
         Layout(number(0, 6)),
         Pad(number(0, 3)),
         value(0, kMaxTileAddress),
         uint16_t(number(0, 65535)),
         uint16_t(number(0, 65535)),
         value(0, 65535),
         value(0, 65535)};
  }
  void view(unsigned, View &v) {
    v.arg = uint8_t(number(0, 255));
    v.type = ElementType(number(0, kNumElementTypes - 1));
    v.layout = Layout(number(0, 2));
    v.rank = uint8_t(number(1, 5));
    v.offset = value(0, int64_t(1) << 40);
    for (unsigned i = 0; i < v.rank; ++i)
      v.sizes[i] = value(0, INT32_MAX), v.strides[i] = value(INT32_MIN, INT32_MAX);
  }
};

// Collects every operand value as a number, to compare two instructions of one row.
struct Flattener {
  std::vector<int64_t> all;
  void value(const Value &v) { all.push_back(v.value), all.push_back(v.isRegister); }
  void integer(unsigned, Value &v) { value(v); }
  void scalar(unsigned, Value &v) { value(v); }
  void wide(unsigned, int64_t &v) { all.push_back(v); }
  void dst(unsigned, uint8_t &v) { all.push_back(v); }
  void attr(unsigned, uint32_t &v, bool) { all.push_back(v); }
  void tile(unsigned, Tile &t) {
    value(t.address), value(t.validRows), value(t.validCols);
    all.insert(all.end(), {int64_t(t.type), int64_t(t.layout), int64_t(t.pad), t.rows, t.cols});
  }
  void view(unsigned, View &v) {
    value(v.offset);
    for (unsigned i = 0; i < v.rank; ++i)
      value(v.sizes[i]), value(v.strides[i]);
    all.insert(all.end(), {v.arg, int64_t(v.type), int64_t(v.layout), v.rank});
  }
};

template <class I> void roundTrip(const char *mnemonic) {
  SCOPED_TRACE(mnemonic);
  std::mt19937 random{unsigned(OpcodeOf<I>::value)};
  for (int trial = 0; trial < 50; ++trial) {
    I insn;
    visitOperands(insn, Filler{infoOf(OpcodeOf<I>::value), random, trial == 0 ? 0.0 : trial == 1 ? 1.0 : 0.3});
    std::vector<uint32_t> words{0xdead};
    auto error = tryEncode(insn, words);
    ASSERT_FALSE(error) << *error;
    DecodedInsn decoded;
    error = decode(words.data() + 1, words.size() - 1, decoded);
    ASSERT_FALSE(error) << *error;
    ASSERT_EQ(decoded.opcode, OpcodeOf<I>::value);
    EXPECT_EQ(decoded.numWords, words.size() - 1);
    Flattener before, after;
    visitOperands(insn, before);
    visitOperands(decoded.as<I>(), after);
    EXPECT_EQ(before.all, after.all);
    std::vector<uint32_t> again{0xdead};
    encode(decoded.as<I>(), again);
    EXPECT_EQ(words, again);
    std::string text = disassemble(decoded);
    EXPECT_EQ(text.substr(0, text.find(' ')), mnemonic);
    // Every truncation is rejected.
    for (size_t cut = 0; cut + 1 < words.size(); ++cut)
      EXPECT_TRUE(decode(words.data() + 1, cut, decoded));
    // After resolution no operand is a register.
    resolve(insn, [](unsigned n) { return int64_t(n) + 100; });
    std::vector<uint32_t> resolved;
    ASSERT_FALSE(tryEncode(insn, resolved));
    EXPECT_EQ(resolved[0] & (0xff000000u | kMaskWordBit), 0u);
  }
}

TEST(RoundTrip, EveryRow){
#define PTO_ISA_TEST(Struct, mnemonic, code, pipe) roundTrip<Struct>(#mnemonic);
    ISA_INSNS(PTO_ISA_TEST)
#undef PTO_ISA_TEST
}

// The encoding of docs/commands.md, written by hand.
TEST(Words, Layout) {
  TAdds insn;
  insn.dst = {ElementType::f16, Layout::ND, Pad::min, 0x1234a0, 16, 64, 7, Value::reg(9)};
  insn.dst.address = 0x234a0;
  insn.src = {ElementType::f16, Layout::ND, Pad::null, Value::reg(3), 16, 64, 7, 64};
  insn.scalar = 0x3f800000;
  std::vector<uint32_t> words;
  encode(insn, words);
  std::vector<uint32_t> expected = {0xa0u | 8u << 16 | (1u << 2 | 1u << 3) << 24,
                                    (1u | 3u << 8) << 20 | 0x234a0,
                                    16u << 16 | 64,
                                    7u << 16 | 9,
                                    1u << 20 | 3,
                                    16u << 16 | 64,
                                    7u << 16 | 64,
                                    0x3f800000u};
  EXPECT_EQ(words, expected);

  TLoad load;
  load.dst = {ElementType::f32, Layout::NZ, Pad::null, 64, 16, 8, 16, 8};
  load.src.arg = 2;
  load.src.rank = 2;
  load.src.offset = int64_t(5) << 32 | 8;
  load.src.sizes[0] = 16, load.src.sizes[1] = 8;
  load.src.strides[0] = Value::reg(1), load.src.strides[1] = 1;
  load.space = Memory::L1;
  words.clear();
  encode(load, words);
  expected = {0x40u | 12u << 16 | 1u << (24 + 3 + 1 + 1),
              2u << 5 << 20 | 64,
              16u << 16 | 8,
              16u << 16 | 8,
              2u << 24 | 2u << 20,
              8,
              5,
              16,
              1,
              8,
              1,
              1};
  EXPECT_EQ(words, expected);

  SetFlag set;
  set.src = Pipe::MTE2, set.dst = Pipe::V, set.id = 3;
  words.clear();
  encode(set, words);
  expected = {0x20u | 3u << 16, 4u << 8 | 1u, 3};
  EXPECT_EQ(words, expected);

  // A register in a slot after the eighth requires the mask word.
  load.src.strides[0] = 8, load.src.strides[1] = Value::reg(6);
  load.src.rank = 3;
  load.src.sizes[2] = 1, load.src.strides[2] = Value::reg(7);
  words.clear();
  encode(load, words);
  EXPECT_EQ(words[0], 0x40u | 1u << 10 | 15u << 16 | 1u << (24 + 3 + 1 + 3));
  EXPECT_EQ(words[1], 1u << (3 + 1 + 5 - 8));
}

TEST(Words, Text) {
  TAdd add;
  add.dst = add.src0 = add.src1 = {ElementType::f32, Layout::ND, Pad::null, 0, 16, 64, 16, 64};
  add.src0.address = Value::reg(3);
  add.src0.validRows = Value::reg(4);
  DecodedInsn insn;
  insn.set(add);
  EXPECT_EQ(disassemble(insn), "tadd UB[0]<16x64xf32>, UB[r3]<16x64xf32 valid=r4x64>, UB[0]<16x64xf32>");

  std::vector<uint32_t> words;
  encode(Loop{1, 0, 16, 4}, words);
  encode(Add{2, Value::reg(1), 5}, words);
  encode(End{}, words);
  EXPECT_EQ(disassemble(words), "  loop r1, lb=0, ub=16, step=4\n    add r2, lhs=r1, rhs=5\n  end\n");
  words.push_back(0);
  EXPECT_NE(disassemble(words).find("; word"), std::string::npos);
}

TEST(Words, RefusesWhatDoesNotFit) {
  std::vector<uint32_t> words;
  Add add{1, int64_t(1) << 40, 2};
  auto error = tryEncode(add, words);
  ASSERT_TRUE(error);
  EXPECT_NE(error->find("'lhs' does not fit: 1099511627776"), std::string::npos) << *error;
  EXPECT_TRUE(words.empty());
  encode(add, words); // encodes to an illegal word
  DecodedInsn insn;
  EXPECT_TRUE(decode(words.data(), words.size(), insn));

  TImg2col image;
  image.kernelH = 300;
  EXPECT_TRUE(tryEncode(image, words));
  TAdd tile;
  tile.dst.address = 1 << 20;
  EXPECT_TRUE(tryEncode(tile, words));
  tile.dst.address = Value::reg(64);
  EXPECT_TRUE(tryEncode(tile, words));
}

TEST(Words, RandomWordsNeverCrash) {
  std::mt19937 random(7);
  size_t accepted = 0;
  for (int trial = 0; trial < 200000; ++trial) {
    uint32_t words[32];
    for (uint32_t &w : words)
      w = trial % 2 ? random() : random() & 0x3f;
    const InsnInfo &info = allInsns()[random() % kNumInsns];
    words[0] = uint32_t(info.opcode) | (random() % 24) << 16 | (trial % 3 ? 0 : random() % 256) << 24 |
               (trial % 5 ? 0 : 1 << 10);
    DecodedInsn insn;
    if (!decode(words, 32, insn)) {
      ++accepted;
      EXPECT_FALSE(disassemble(insn).empty());
    }
  }
  EXPECT_GT(accepted, 100u);
}

} // namespace
