//===- Codec.h - Encoding and decoding of instructions --------------------===//
//
// The format of the words: docs/commands.md.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_ISA_CODEC_H
#define PTO_MLIR_ISA_CODEC_H

#include "pto_mlir/ISA/Table.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pto_mlir::isa {

/// One decoded instruction; `opcode` selects the struct it holds.
struct DecodedInsn {
  Opcode opcode = Opcode::End;
  uint16_t numWords = 0;
  uint32_t registerMask = 0; // a bit per value slot; 0: no operand is a register (a `Dst` does not count)

  template <class I> I &as() { return *reinterpret_cast<I *>(storage); }
  template <class I> const I &as() const { return *reinterpret_cast<const I *>(storage); }
  template <class I> void set(const I &insn) {
    static_assert(std::is_trivially_copyable_v<I>);
    opcode = OpcodeOf<I>::value;
    std::memcpy(storage, &insn, sizeof(I));
  }

private:
#define PTO_ISA_SIZE(Struct, mnemonic, code, pipe) sizeof(Struct),
  static constexpr size_t kSize = std::max({ISA_INSNS(PTO_ISA_SIZE) size_t(0)});
#undef PTO_ISA_SIZE
  alignas(8) unsigned char storage[kSize];
};

/// Calls f with the instruction as a struct of its row.
template <class F> decltype(auto) visit(DecodedInsn &insn, F &&f) {
  switch (insn.opcode) {
#define PTO_ISA_CASE(Struct, mnemonic, code, pipe)                                                                     \
  case Opcode::Struct:                                                                                                 \
    return f(insn.as<Struct>());
    ISA_INSNS(PTO_ISA_CASE)
#undef PTO_ISA_CASE
  }
  return f(insn.as<End>());
}
template <class F> decltype(auto) visit(const DecodedInsn &insn, F &&f) {
  return visit(const_cast<DecodedInsn &>(insn), [&](const auto &typed) -> decltype(auto) { return f(typed); });
}

/// Whether the instruction adds to global memory: the order of such instructions affects the rounding of sums.
inline bool addsToGlobal(const DecodedInsn &insn) {
  switch (insn.opcode) {
  case Opcode::TStore:
    return insn.as<TStore>().atomic != AtomicMode::none;
  case Opcode::TStoreAcc:
    return insn.as<TStoreAcc>().atomic != AtomicMode::none;
  case Opcode::TStoreAccQuant:
    return insn.as<TStoreAccQuant>().atomic != AtomicMode::none;
  case Opcode::Mscatter:
    return insn.as<Mscatter>().atomic != ScatterOp::none;
  default:
    return false;
  }
}

/// Whether a wait for `wanted` passes a cell that holds `held`.
inline bool satisfies(CellCompare mode, int64_t held, int64_t wanted) {
  return mode == CellCompare::ge ? held >= wanted : held == wanted;
}

/// Whether the instruction writes a tile in the memory of another core of its block.
inline bool writesPeer(Opcode opcode) {
  for (const OperandInfo &operand : infoOf(opcode).operands)
    if (operand.access == AccessPattern::peerPart || operand.access == AccessPattern::vectorCores)
      return true;
  return false;
}

/// Appends the words of an instruction. If a value does not fit its field, returns an error that names the operand and
/// appends nothing.
#define PTO_ISA_DECLARE(Struct, mnemonic, code, pipe)                                                                  \
  std::optional<std::string> tryEncode(const Struct &insn, std::vector<uint32_t> &words);
ISA_INSNS(PTO_ISA_DECLARE)
#undef PTO_ISA_DECLARE

/// As tryEncode; an instruction that cannot be encoded becomes a zero word, which does not decode.
template <class I> void encode(const I &insn, std::vector<uint32_t> &words) {
  if (tryEncode(insn, words))
    words.push_back(0);
}

/// Decodes the instruction at `words`; `left` words remain in the stream. Returns an error, if any: unknown opcode,
/// wrong length, reserved bits, register or enumeration out of range.
std::optional<std::string> decode(const uint32_t *words, size_t left, DecodedInsn &insn);

/// One instruction as text, without a line break.
std::string disassemble(const DecodedInsn &insn);
/// A stream as text, one line per instruction, loop bodies indented. Stops with a message at a word that does not
/// decode.
std::string disassemble(const std::vector<uint32_t> &words);

namespace detail {
template <class F> struct Resolver {
  F &reg;
  void value(Value &v) {
    if (v.isRegister)
      v = Value(int64_t(reg(unsigned(v.value))));
  }
  void integer(unsigned, Value &v) { value(v); }
  void scalar(unsigned, Value &v) { value(v); }
  void wide(unsigned, int64_t &) {}
  void dst(unsigned, uint8_t &) {}
  void attr(unsigned, uint32_t &, bool) {}
  void tile(unsigned, Tile &t) { value(t.address), value(t.validRows), value(t.validCols); }
  void view(unsigned, View &v) {
    value(v.offset);
    for (unsigned i = 0; i < v.rank; ++i)
      value(v.sizes[i]), value(v.strides[i]);
  }
};
} // namespace detail

/// Replaces every register operand by its content; `reg(n)` returns the 64-bit value of register n.
template <class I, class F> void resolve(I &insn, F &&reg) {
  visitOperands(insn, detail::Resolver<std::remove_reference_t<F>>{reg});
}

} // namespace pto_mlir::isa

#endif
