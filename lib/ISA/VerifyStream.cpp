//===- VerifyStream.cpp - Is a command stream legal? ----------------------===//

#include "pto_mlir/ISA/OperandVisitor.h"
#include "pto_mlir/ISA/Verify.h"

namespace pto_mlir::isa {

namespace {

using Registers = uint64_t; // bit set: written on every path

// A forward jump whose target is not reached yet, and the registers written when it was taken.
struct PendingJump {
  size_t target;
  Registers written;
};

// The top level of the stream, or the body of a loop.
struct Level {
  Registers entry;
  std::vector<PendingJump> jumps;
};

// Collects the registers that an instruction reads and writes and its operand types, and checks each tile.
struct OperandChecker : OperandVisitor {
  const InsnInfo &info;
  const DecodedInsn &insn;
  Arch arch;
  std::optional<unsigned> numArgs;
  Registers read = 0, written = 0;
  ElementType types[6];
  unsigned numTypes = 0;
  std::optional<std::string> error;

  void value(const Value &v) {
    if (v.isRegister)
      read |= Registers(1) << v.value;
  }
  void integer(unsigned, Value &v) { value(v); }
  void scalar(unsigned, Value &v) { value(v); }
  void dst(unsigned, uint8_t &r) { written |= Registers(1) << r; }
  void tile(unsigned k, Tile &t) {
    value(t.address), value(t.validRows), value(t.validCols);
    const OperandInfo &operand = info.operands[k];
    if (!operand.types)
      types[numTypes++] = t.type;
    if (!error)
      error = checkTile(operand, t, memoryOf(insn, operand), arch);
  }
  void view(unsigned k, View &v) {
    value(v.offset);
    for (unsigned i = 0; i < v.rank; ++i)
      value(v.sizes[i]), value(v.strides[i]);
    types[numTypes++] = v.type;
    if (error)
      return;
    const char *name = info.operands[k].name;
    if (!(info.operands[k].layouts >> unsigned(v.layout) & 1))
      error = std::string("operand '") + name + "' cannot have layout " + kLayoutNames[unsigned(v.layout)];
    else if (numArgs && v.arg >= *numArgs)
      error = std::string("operand '") + name + "' names kernel argument " + std::to_string(v.arg) + ", there are " +
              std::to_string(*numArgs);
  }
};

std::optional<std::string> checkTypes(const InsnInfo &info, const OperandChecker &operands, Arch arch) {
  if (info.types.size() == 0 || operands.numTypes == 0)
    return std::nullopt;
  for (const TypeCombination &combination : info.types) {
    if (!(combination.archs >> unsigned(arch) & 1))
      continue;
    bool equal = true;
    for (unsigned i = 0; i < operands.numTypes; ++i)
      equal &= combination.types[i] == operands.types[i];
    if (equal)
      return std::nullopt;
  }
  std::string types;
  for (unsigned i = 0; i < operands.numTypes; ++i)
    types += (i ? ", " : "") + std::string(elementName(operands.types[i]));
  return "element types (" + types + ") are not legal on " + archInfo(arch).name;
}

// The legal pairs of view and tile layout of tload. L1 takes a row-major view into NZ and a column-major one into ZN;
// UB takes neither.
std::optional<std::string> checkLoadLayouts(const TLoad &insn) {
  Layout from = insn.src.layout, to = insn.dst.layout;
  bool plain = to == Layout::ND || to == Layout::DN;
  bool legal = from == Layout::NZ
                   ? to == Layout::NZ
                   : plain || (insn.space == Memory::L1 && to == (from == Layout::ND ? Layout::NZ : Layout::ZN));
  const Value &lines = loadLines(insn.dst);
  unsigned most = mostLoadLines(insn.space);
  if (legal && !lines.isRegister && lines.value > int64_t(most))
    return "moves " + std::to_string(lines.value) + (&lines == &insn.dst.validRows ? " rows" : " columns") + " into " +
           kMemoryNames[unsigned(insn.space)] + ", one load moves at most " + std::to_string(most);
  if (legal)
    return std::nullopt;
  return std::string("cannot load a view of layout ") + kLayoutNames[unsigned(from)] + " into a tile of layout " +
         kLayoutNames[unsigned(to)] + " in " + kMemoryNames[unsigned(insn.space)];
}

std::optional<std::string> checkCrossId(const Value &id, bool lanes, const ArchInfo &arch) {
  int64_t count = lanes ? arch.vectorCores * arch.crossFlags : arch.crossFlags;
  if (id.isRegister || (id.value >= 0 && id.value < count))
    return std::nullopt;
  return "cross-core flag " + std::to_string(id.value) + " is outside 0.." + std::to_string(count - 1);
}

// Rules of single instructions that the table has no column for.
std::optional<std::string> checkSpecial(const DecodedInsn &insn, CoreKind core, Pipe pipe, const ArchInfo &arch) {
  auto flag = [&](Pipe own, Pipe src, Pipe dst, const Value &id) -> std::optional<std::string> {
    if (own != pipe)
      return std::string("belongs to the stream of ") + pipeName(own);
    if (!hasPipe(arch, core, src) || !hasPipe(arch, core, dst))
      return std::string(kCoreKindNames[unsigned(core)]) + " lacks one of the engines " + pipeName(src) + ", " +
             pipeName(dst);
    if (!id.isRegister && (id.value < 0 || id.value >= int64_t(arch.eventIds)))
      return "flag id " + std::to_string(id.value) + " is outside 0.." + std::to_string(arch.eventIds - 1);
    return std::nullopt;
  };
  switch (insn.opcode) {
  case Opcode::SetFlag: {
    const auto &i = insn.as<SetFlag>();
    return flag(i.src, i.src, i.dst, i.id);
  }
  case Opcode::WaitFlag: {
    const auto &i = insn.as<WaitFlag>();
    return flag(i.dst, i.src, i.dst, i.id);
  }
  case Opcode::CrossSet: {
    const auto &i = insn.as<CrossSet>();
    if (i.mode == CrossMode::lane && !arch.has(ArchFeature::LaneFlags))
      return std::string("mode lane is not on ") + arch.name;
    if (i.mode == CrossMode::pair && core != CoreKind::AIV)
      return "mode pair is for vector cores";
    return checkCrossId(i.id, i.mode == CrossMode::lane && core == CoreKind::AIC, arch);
  }
  case Opcode::CrossWait: {
    bool lanes = arch.has(ArchFeature::LaneFlags);
    if (!lanes && pipe != Pipe::S)
      return "belongs to the stream of S";
    return checkCrossId(insn.as<CrossWait>().id, lanes && core == CoreKind::AIC, arch);
  }
  case Opcode::Push: {
    Pipe engine = insn.as<Push>().engine;
    if (!hasPipe(arch, core, engine) || engine == Pipe::S)
      return "pushes to an engine that has no FIFO";
    return std::nullopt;
  }
  case Opcode::Pop:
    if (insn.as<Pop>().engine != pipe)
      return "pops the FIFO of another engine";
    return std::nullopt;
  case Opcode::Barrier: {
    Pipe which = insn.as<Barrier>().pipe;
    if (which != pipe && which != Pipe::ALL)
      return "drains another engine";
    return std::nullopt;
  }
  case Opcode::Loop: {
    const Value &step = insn.as<Loop>().step;
    if (!step.isRegister && step.value <= 0)
      return "step " + std::to_string(step.value) + " is not positive";
    return std::nullopt;
  }
  case Opcode::Div:
  case Opcode::Rem: {
    const Value &rhs = insn.opcode == Opcode::Div ? insn.as<Div>().rhs : insn.as<Rem>().rhs;
    if (rhs == Value(0))
      return "divides by zero";
    return std::nullopt;
  }
  case Opcode::TLoad:
    return checkLoadLayouts(insn.as<TLoad>());
  case Opcode::TImg2col: {
    const auto &i = insn.as<TImg2col>();
    if (!i.kernelH || !i.kernelW || !i.strideH || !i.strideW || !i.dilationH || !i.dilationW || !i.width || !i.channels)
      return "kernel, strides, dilations, width and channels are at least 1";
    return std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<StreamError> verifyStream(CoreKind core, Pipe pipe, const uint32_t *words, size_t numWords, Arch arch,
                                        std::optional<unsigned> numArgs) {
  const ArchInfo &row = archInfo(arch);
  if (!hasPipe(core, pipe))
    return StreamError{0, std::string(kCoreKindNames[unsigned(core) & 1]) + " has no such engine"};
  if (!hasPipe(row, core, pipe))
    return StreamError{0, std::string(row.name) + " has no engine " + pipeName(pipe) + "; " +
                              pipeName(row.engineOf(pipe)) + " carries out its instructions"};
  std::vector<Level> levels(1);
  levels[0].entry = 0;
  Registers written = 0;

  for (size_t at = 0; at < numWords;) {
    DecodedInsn insn;
    if (auto error = decode(words + at, numWords - at, insn))
      return StreamError{at, *error};
    const InsnInfo &info = infoOf(insn.opcode);
    auto fail = [&](const std::string &what) { return StreamError{at, std::string(info.mnemonic) + ": " + what}; };
    if (Pipe own = row.engineOf(info.pipe); own != Pipe::ALL && own != pipe)
      return fail(std::string("belongs to ") + pipeName(own) + ", not to " + pipeName(pipe));

    std::vector<PendingJump> &jumps = levels.back().jumps;
    for (size_t j = 0; j < jumps.size();) {
      if (jumps[j].target > at) {
        ++j;
        continue;
      }
      if (jumps[j].target < at)
        return StreamError{jumps[j].target, "a jump lands within an instruction"};
      written &= jumps[j].written;
      jumps.erase(jumps.begin() + long(j));
    }

    OperandChecker operands{{}, info, insn, arch, numArgs, 0, 0, {}, 0, std::nullopt};
    visit(insn, [&](auto &typed) { visitOperands(typed, operands); });
    if (operands.error)
      return fail(*operands.error);
    if (auto error = checkTypes(info, operands, arch))
      return fail(*error);
    if (auto error = checkShapes(insn))
      return fail(*error);
    if (auto error = checkSpecial(insn, core, pipe, row))
      return fail(*error);
    if (Registers unwritten = operands.read & ~written)
      return fail("reads r" + std::to_string(__builtin_ctzll(unwritten)) +
                  ", which is not written on every path to here");

    size_t next = at + insn.numWords;
    if (insn.opcode == Opcode::Loop) {
      levels.push_back({written, {}});
      written |= operands.written;
    } else if (insn.opcode == Opcode::End) {
      if (levels.size() == 1)
        return fail("without a loop");
      if (!levels.back().jumps.empty())
        return fail("a jump leaves the loop");
      written = levels.back().entry; // the body may run zero times, or a break may leave it at its start
      levels.pop_back();
    } else if (insn.opcode == Opcode::BreakIfZero) {
      if (levels.size() == 1)
        return fail("without a loop");
    } else if (insn.opcode == Opcode::SkipIfZero) {
      const auto &skip = insn.as<SkipIfZero>();
      if (skip.words.isRegister || skip.words.value < 0 || uint64_t(skip.words.value) > numWords - next)
        return fail("the jump leaves the stream");
      levels.back().jumps.push_back({next + size_t(skip.words.value), written});
      if (skip.cond == Value(0))
        written = ~Registers(0); // no fall-through path
    } else {
      written |= operands.written;
    }
    at = next;
  }
  if (levels.size() > 1)
    return StreamError{numWords, "a loop has no end"};
  for (const PendingJump &jump : levels[0].jumps)
    if (jump.target != numWords)
      return StreamError{jump.target, "a jump lands within an instruction"};
  return std::nullopt;
}

} // namespace pto_mlir::isa
