//===- Decode.cpp - Words to instructions ---------------------------------===//

#include "pto_mlir/ISA/Codec.h"

namespace pto_mlir::isa {

namespace {

// Reads operand words in order. After the first error the remaining operands are undefined. Members are not inlined:
// inlining them into every row dominates the compile time of this file.
struct Decoder {
  const InsnInfo &info;
  const uint32_t *words;
  size_t count; // words of this instruction
  uint32_t mask;
  size_t next;
  unsigned slot = 0;
  std::optional<std::string> error;

  void fail(unsigned k, const std::string &what) {
    if (!error)
      error = std::string(info.mnemonic) + ": operand '" + info.operands[k].name + "' " + what;
  }
  uint32_t take(unsigned k) {
    if (next >= count) {
      fail(k, "is missing, the instruction is too short");
      return 0;
    }
    return words[next++];
  }
  // A value that may be a register; `field` is the word's content that would name it.
  Value value(unsigned k, int64_t immediate, uint32_t field) {
    if (!(mask >> slot++ & 1))
      return Value(immediate);
    if (field >= kNumRegisters)
      fail(k, "names register " + std::to_string(field) + ", there are 64");
    return Value::reg(field);
  }

  [[gnu::noinline]] void integer(unsigned k, Value &v) {
    uint32_t word = take(k);
    v = value(k, int32_t(word), word);
  }
  [[gnu::noinline]] void scalar(unsigned k, Value &v) {
    uint32_t word = take(k);
    v = value(k, int64_t(word), word);
  }
  [[gnu::noinline]] void wide(unsigned k, int64_t &v) {
    uint64_t low = take(k);
    v = int64_t(low | uint64_t(take(k)) << 32);
  }
  [[gnu::noinline]] void dst(unsigned k, uint8_t &v) {
    uint32_t word = take(k);
    if (word >= kNumRegisters)
      fail(k, "names register " + std::to_string(word) + ", there are 64");
    v = uint8_t(word);
  }
  [[gnu::noinline]] void attr(unsigned k, uint32_t &word, bool) {
    word = take(k);
    unsigned used = 0;
    for (const FieldInfo &f : info.operands[k].fields) {
      used += f.width;
      uint32_t v = f.width < 32 ? word >> f.shift & ((1u << f.width) - 1) : word;
      if (f.values && !f.open && (v >= f.numValues || !f.values[v]))
        fail(k, "has " + std::to_string(v) + " for '" + f.name + "', which is no legal value");
    }
    if (used < 32 && word >> used)
      fail(k, "has reserved bits set");
  }
  [[gnu::noinline]] void tile(unsigned k, Tile &t) {
    uint32_t head = take(k), shape = take(k), valid = take(k);
    uint32_t type = head >> 20, address = head & kMaxTileAddress;
    t.type = ElementType(type & 31);
    t.layout = Layout(type >> 5 & 7);
    t.pad = Pad(type >> 8 & 3);
    if ((type & 31) >= kNumElementTypes || (type >> 5 & 7) >= std::size(kLayoutNames) || type >> 10)
      fail(k, "has an unknown tile type " + std::to_string(type));
    t.address = value(k, address, address);
    t.rows = uint16_t(shape >> 16);
    t.cols = uint16_t(shape);
    t.validRows = value(k, valid >> 16, valid >> 16);
    t.validCols = value(k, valid & 0xffff, valid & 0xffff);
  }
  [[gnu::noinline]] void view(unsigned k, View &v) {
    uint32_t head = take(k), low = take(k), high = take(k);
    v.arg = uint8_t(head >> 24);
    v.rank = uint8_t(head >> 20 & 15);
    v.layout = Layout(head >> 16 & 15);
    v.type = ElementType(head >> 8 & 255);
    if (unsigned(v.layout) >= std::size(kLayoutNames) || unsigned(v.type) >= kNumElementTypes || head & 255)
      fail(k, "has an unknown view type");
    if (v.rank < 1 || v.rank > kMaxRank) {
      fail(k, "has rank " + std::to_string(v.rank) + ", expects 1 to 5");
      v.rank = 1;
      return;
    }
    v.offset = value(k, int64_t(uint64_t(low) | uint64_t(high) << 32), low);
    if (v.offset.isRegister ? high != 0 : v.offset.value < 0)
      fail(k, "has an illegal offset");
    for (unsigned i = 0; i < v.rank; ++i) {
      uint32_t size = take(k), stride = take(k);
      v.sizes[i] = value(k, int32_t(size), size);
      v.strides[i] = value(k, int32_t(stride), stride);
      if (!v.sizes[i].isRegister && v.sizes[i].value < 0)
        fail(k, "has a negative size");
    }
  }
};

// The only function that is instantiated per row.
template <class I> void decodeOperands(Decoder &decoder, DecodedInsn &out) {
  I insn;
  visitOperands(insn, decoder);
  out.set(insn);
}

void decodeOperands(Opcode opcode, Decoder &decoder, DecodedInsn &out) {
  switch (opcode) {
#define PTO_ISA_CASE(Struct, mnemonic, code, pipe)                                                                     \
  case Opcode::Struct:                                                                                                 \
    return decodeOperands<Struct>(decoder, out);
    ISA_INSNS(PTO_ISA_CASE)
#undef PTO_ISA_CASE
  }
}

} // namespace

std::optional<std::string> decode(const uint32_t *words, size_t left, DecodedInsn &insn) {
  if (left < 1)
    return "the stream ends within an instruction";
  uint32_t head = words[0];
  size_t count = head >> 16 & 255;
  const InsnInfo *info = findInsn(head & 1023);
  if (!info || (head & 0xf800))
    return "word " + std::to_string(head) + " is no instruction";
  if (count < 1 || count > left)
    return std::string(info->mnemonic) + ": has " + std::to_string(count) + " words, " + std::to_string(left) +
           " are left";
  uint32_t mask = head >> 24;
  bool hasMaskWord = head & kMaskWordBit;
  if (hasMaskWord) {
    if (count < 2 || words[1] == 0 || words[1] >> (32 - kHeadSlots))
      return std::string(info->mnemonic) + ": the register mask word is missing or empty";
    mask |= words[1] << kHeadSlots;
  }
  Decoder decoder{*info, words, count, mask, hasMaskWord ? size_t(2) : size_t(1), 0, std::nullopt};
  decodeOperands(info->opcode, decoder, insn);
  if (decoder.error)
    return decoder.error;
  if (decoder.next != count)
    return std::string(info->mnemonic) + ": has " + std::to_string(count) + " words, its operands take " +
           std::to_string(decoder.next);
  if (decoder.slot < 32 && mask >> decoder.slot)
    return std::string(info->mnemonic) + ": the register mask names operands that do not exist";
  insn.numWords = uint16_t(count);
  insn.registerMask = mask;
  return std::nullopt;
}

} // namespace pto_mlir::isa
