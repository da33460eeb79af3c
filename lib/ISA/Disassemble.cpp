//===- Disassemble.cpp - Instructions as text -----------------------------===//
//
// tadd UB[0]<16x64xf32>, UB[r3]<16x64xf32 valid=r4x64>, ...
// tload UB[0]<16x64xf32>, arg0[r2]<16x64xf32 strides=64,1>, space=UB
//
// A tile prints as memory, address, box, and whatever differs from the defaults.
//
//===----------------------------------------------------------------------===//

#include "pto_mlir/ISA/OperandVisitor.h"

namespace pto_mlir::isa {

namespace {

std::string text(const Value &v) { return (v.isRegister ? "r" : "") + std::to_string(v.value); }

std::string lower(std::string s) {
  for (char &c : s)
    c = char(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return s;
}

// One visitor for all rows: as a template over the row's struct this file took 17 s to compile.
struct Printer {
  const InsnInfo &info;
  const DecodedInsn &insn;
  std::string out;

  void begin(unsigned k) { out += k == 0 ? " " : ", "; }
  [[gnu::noinline]] void integer(unsigned k, Value &v) {
    begin(k);
    out += std::string(info.operands[k].name) + "=" + text(v);
  }
  [[gnu::noinline]] void scalar(unsigned k, Value &v) { integer(k, v); }
  [[gnu::noinline]] void wide(unsigned k, int64_t &v) {
    begin(k);
    out += std::to_string(v);
  }
  [[gnu::noinline]] void dst(unsigned k, uint8_t &v) {
    begin(k);
    out += "r" + std::to_string(v);
  }
  [[gnu::noinline]] void attr(unsigned k, uint32_t &word, bool) {
    bool first = true;
    for (const FieldInfo &f : info.operands[k].fields) {
      first ? begin(k) : void(out += " ");
      first = false;
      uint32_t v = f.width < 32 ? word >> f.shift & ((1u << f.width) - 1) : word;
      out += std::string(f.name) + "=" + (f.values && v < f.numValues && f.values[v] ? f.values[v] : std::to_string(v));
    }
  }
  [[gnu::noinline]] void tile(unsigned k, Tile &t) {
    begin(k);
    out += kMemoryNames[unsigned(memoryOf(insn, info.operands[k]))];
    out += "[" + text(t.address) + "]<" + std::to_string(t.rows) + "x" + std::to_string(t.cols) + "x" +
           elementName(t.type);
    if (t.validRows != Value(t.rows) || t.validCols != Value(t.cols))
      out += " valid=" + text(t.validRows) + "x" + text(t.validCols);
    if (t.layout != Layout::ND)
      out += " " + lower(kLayoutNames[unsigned(t.layout)]);
    if (t.pad != Pad::null)
      out += std::string(" pad=") + kPadNames[unsigned(t.pad)];
    out += ">";
  }
  [[gnu::noinline]] void view(unsigned k, View &v) {
    begin(k);
    out += "arg" + std::to_string(v.arg) + "[" + text(v.offset) + "]<";
    std::string strides;
    for (unsigned i = 0; i < v.rank; ++i) {
      out += text(v.sizes[i]) + "x";
      strides += (i ? "," : "") + text(v.strides[i]);
    }
    out += std::string(elementName(v.type)) + " strides=" + strides;
    if (v.layout != Layout::ND)
      out += " " + lower(kLayoutNames[unsigned(v.layout)]);
    out += ">";
  }
};

} // namespace

Memory memoryOf(const DecodedInsn &insn, const OperandInfo &operand) {
  return visit(insn, [&](const auto &typed) { return memoryOf(typed, operand); });
}

std::string disassemble(const DecodedInsn &insn) {
  const InsnInfo &info = infoOf(insn.opcode);
  Printer printer{info, insn, info.mnemonic};
  visit(insn, [&](const auto &typed) {
    auto copy = typed;
    visitOperands(copy, printer);
  });
  return std::move(printer.out);
}

std::string disassemble(const std::vector<uint32_t> &words) {
  std::string out;
  unsigned depth = 1;
  for (size_t at = 0; at < words.size();) {
    DecodedInsn insn;
    if (std::optional<std::string> error = decode(&words[at], words.size() - at, insn))
      return out + "  ; word " + std::to_string(at) + ": " + *error + "\n";
    if (insn.opcode == Opcode::End && depth > 1)
      --depth;
    out += std::string(2 * depth, ' ') + disassemble(insn) + "\n";
    if (insn.opcode == Opcode::Loop)
      ++depth;
    at += insn.numWords;
  }
  return out;
}

} // namespace pto_mlir::isa
