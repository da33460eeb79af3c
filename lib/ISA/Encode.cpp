//===- Encode.cpp - Instructions to words ---------------------------------===//

#include "pto_mlir/ISA/Codec.h"

namespace pto_mlir::isa {

namespace {

// Appends operand words, collects the register mask and keeps the first error. Each instruction has code of its own
// that calls these for its operands: copies of them took an eighth of the time to compile.
struct Encoder {
  const InsnInfo &info;
  std::vector<uint32_t> &words;
  uint32_t mask = 0;
  unsigned slot = 0;
  std::optional<std::string> error;

  [[gnu::noinline]] void fail(unsigned k, const char *what, int64_t value) {
    if (!error)
      error = std::string(info.mnemonic) + ": " + what + " of operand '" + info.operands[k].name +
              "' does not fit: " + std::to_string(value);
  }

  // The field of a value that may be a register; an immediate must lie in [low, high].
  [[gnu::noinline]] uint32_t field(unsigned k, const char *what, const Value &v, int64_t low, int64_t high) {
    unsigned bit = slot++;
    if (v.isRegister) {
      mask |= 1u << bit;
      if (v.value < 0 || v.value >= int64_t(kNumRegisters))
        fail(k, "register number", v.value);
    } else if (v.value < low || v.value > high) {
      fail(k, what, v.value);
    }
    return uint32_t(v.value);
  }

  [[gnu::noinline]] void integer(unsigned k, Value &v) { words.push_back(field(k, "value", v, INT32_MIN, INT32_MAX)); }
  // A bit pattern may be given as a signed or unsigned 32-bit value.
  [[gnu::noinline]] void scalar(unsigned k, Value &v) { words.push_back(field(k, "value", v, INT32_MIN, UINT32_MAX)); }
  [[gnu::noinline]] void wide(unsigned, int64_t &v) {
    words.push_back(uint32_t(uint64_t(v)));
    words.push_back(uint32_t(uint64_t(v) >> 32));
  }
  [[gnu::noinline]] void dst(unsigned k, uint8_t &v) {
    if (v >= kNumRegisters)
      fail(k, "register number", v);
    words.push_back(v);
  }
  [[gnu::noinline]] void attr(unsigned k, uint32_t &word, bool fits) {
    if (!fits)
      fail(k, "attribute", word);
    words.push_back(word);
  }
  [[gnu::noinline]] void tile(unsigned k, Tile &t) {
    uint32_t type = uint32_t(t.type) | uint32_t(t.layout) << 5 | uint32_t(t.pad) << 8;
    words.push_back(type << 20 | field(k, "address", t.address, 0, kMaxTileAddress));
    words.push_back(uint32_t(t.rows) << 16 | t.cols);
    uint32_t validRows = field(k, "valid rows", t.validRows, 0, 0xffff);
    words.push_back(validRows << 16 | (field(k, "valid columns", t.validCols, 0, 0xffff) & 0xffff));
  }
  [[gnu::noinline]] void view(unsigned k, View &v) {
    if (v.rank < 1 || v.rank > kMaxRank) {
      fail(k, "rank", v.rank);
      return;
    }
    words.push_back(uint32_t(v.arg) << 24 | uint32_t(v.rank) << 20 | uint32_t(v.layout) << 16 | uint32_t(v.type) << 8);
    uint32_t low = field(k, "offset", v.offset, 0, INT64_MAX);
    words.push_back(low);
    words.push_back(v.offset.isRegister ? 0 : uint32_t(uint64_t(v.offset.value) >> 32));
    for (unsigned i = 0; i < v.rank; ++i) {
      words.push_back(field(k, "size", v.sizes[i], 0, INT32_MAX));
      words.push_back(field(k, "stride", v.strides[i], INT32_MIN, INT32_MAX));
    }
  }
};

template <class I> std::optional<std::string> encodeInsn(I insn, std::vector<uint32_t> &words) {
  size_t begin = words.size();
  words.push_back(0);
  Encoder encoder{infoOf(OpcodeOf<I>::value), words, 0, 0, std::nullopt};
  visitOperands(insn, encoder);
  if (encoder.error) {
    words.resize(begin);
    return encoder.error;
  }
  uint32_t later = encoder.mask >> kHeadSlots;
  if (later)
    words.insert(words.begin() + begin + 1, later);
  words[begin] = uint32_t(OpcodeOf<I>::value) | (later ? kMaskWordBit : 0) | uint32_t(words.size() - begin) << 16 |
                 encoder.mask << 24;
  return std::nullopt;
}

} // namespace

#define PTO_ISA_DEFINE(Struct, mnemonic, code, pipe)                                                                   \
  std::optional<std::string> tryEncode(const Struct &insn, std::vector<uint32_t> &words) {                             \
    return encodeInsn(insn, words);                                                                                    \
  }
ISA_INSNS(PTO_ISA_DEFINE)
#undef PTO_ISA_DEFINE

} // namespace pto_mlir::isa
