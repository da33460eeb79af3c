#include "Checked/Checker.h"

#include "OperandList.h"

#include <algorithm>

namespace pto_mlir::cmodel {
namespace {

/// The argument that an instruction stores to.
std::optional<uint8_t> storedArgument(const isa::DecodedInsn &insn) {
  if (insn.opcode == isa::Opcode::TStore)
    return insn.as<isa::TStore>().dst.arg;
  if (insn.opcode == isa::Opcode::TStoreAcc)
    return insn.as<isa::TStoreAcc>().dst.arg;
  if (insn.opcode == isa::Opcode::TStoreAccQuant)
    return insn.as<isa::TStoreAccQuant>().dst.arg;
  if (insn.opcode == isa::Opcode::TStoreAccQuantv)
    return insn.as<isa::TStoreAccQuantv>().dst.arg;
  if (insn.opcode == isa::Opcode::StoreScalar)
    return insn.as<isa::StoreScalar>().dst.arg;
  return std::nullopt;
}

void join(Clock &into, const Clock &other) {
  for (unsigned e = 0; e < maxEngines; ++e)
    into[e] = std::max(into[e], other[e]);
}

} // namespace

//===- the host's side -------------------------------------------------------------===//

void Checker::allocated(uint64_t address, uint64_t bytes) {
  blocks.emplace(address, Block{bytes, DefinedShadow(bytes)});
  lastBlock = nullptr;
}

void Checker::released(uint64_t address) {
  blocks.erase(address);
  lastBlock = nullptr;
}

Checker::Block *Checker::blockOf(uint64_t address) {
  if (!lastBlock || address < lastBlock->first || address - lastBlock->first >= lastBlock->second.bytes) {
    auto it = blocks.upper_bound(address);
    if (it == blocks.begin())
      return nullptr;
    lastBlock = &*--it;
  }
  return &lastBlock->second;
}

void Checker::copiedToDevice(uint64_t address, uint64_t bytes) {
  if (Block *block = bytes ? blockOf(address) : nullptr)
    block->defined.set(address - lastBlock->first, bytes, true);
}

std::string Checker::copiesFromDevice(uint64_t address, uint64_t bytes) {
  Block *block = bytes ? blockOf(address) : nullptr;
  if (!block)
    return "";
  uint64_t offset = address - lastBlock->first, missing = block->defined.firstUndefined(offset, bytes);
  if (missing == offset + bytes)
    return "";
  return "uninitialised: the host reads " + std::to_string(bytes) + " bytes of device memory, of which byte " +
         std::to_string(missing - offset) + " was never written";
}

void Checker::launchBegin(const LaunchState &launch) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const Stream &stream : launch.kernel->streams)
    for (const Op &op : stream.ops)
      if (auto arg = storedArgument(op.insn); arg && *arg < launch.args.size())
        ranges.push_back({launch.args[*arg].address, launch.args[*arg].address + launch.args[*arg].bytes});
  std::sort(ranges.begin(), ranges.end());
  for (auto [begin, end] : ranges) {
    begin = begin / 32 * 32;
    if (!regions.empty() && begin < regions.back().end)
      regions.back().end = std::max(regions.back().end, end);
    else
      regions.push_back({begin, end, AccessShadow(0)});
  }
  for (Region &region : regions)
    region.accesses = AccessShadow(region.end - region.begin);
}

void Checker::launchEnd(const LaunchState &, pto_profile &) {
  regions.clear();
  cores.clear();
}

//===- a core ------------------------------------------------------------------------===//

void Checker::coreBegin(Core &core) {
  CoreLog log;
  log.name = core.name();
  for (Engine &e : core.allEngines())
    log.streams.push_back(e.stream);
  log.ops.resize(log.streams.size());
  cores.push_back(std::move(log));
  for (Local &local : locals)
    if (local.defined) {
      local.defined->clear();
      local.accesses->clear();
    }
  clocks.fill({});
  for (auto &bySource : flags)
    for (auto &byTarget : bySource)
      for (Flag &flag : byTarget)
        flag = {};
  for (unsigned p = 0; p < numPipes; ++p) {
    queues[p].clear();
    popped[p] = 0;
  }
}

void Checker::before(Core &core, const Op &op) {
  if (isPlainScalar(op.insn.opcode))
    return;
  resolved = op.insn;
  resolveRegisters(resolved, core.engine().registers);
}

void Checker::after(Core &core, const Op &op) {
  if (isPlainScalar(op.insn.opcode))
    return;
  engine = unsigned(&core.engine() - core.allEngines().data());
  ++clock()[engine];
  cores.back().ops[engine].push_back(core.engine().pc);
  switch (op.insn.opcode) {
  case isa::Opcode::SetFlag: {
    const auto &set = resolved.as<isa::SetFlag>();
    return setFlag(core, set.src, set.dst, set.id.value);
  }
  case isa::Opcode::WaitFlag: {
    const auto &wait = resolved.as<isa::WaitFlag>();
    return waitFlag(wait.src, wait.dst, wait.id.value);
  }
  case isa::Opcode::Push:
    queues[unsigned(resolved.as<isa::Push>().engine) & 15].push_back(clock());
    return;
  case isa::Opcode::Pop: {
    unsigned pipe = unsigned(core.engine().pipe) & 15;
    return join(clock(), queues[pipe][popped[pipe]++]);
  }
  default:
    return accesses(core);
  }
}

void Checker::setFlag(Core &core, isa::Pipe src, isa::Pipe dst, int64_t id) {
  Flag &flag = flags[unsigned(src) & 15][unsigned(dst) & 15][id];
  // Another schedule could come here before the last token is taken: two tokens would meet.
  for (unsigned e = 0; e < cores.back().streams.size(); ++e)
    if (cores.back().streams[e]->pipe == dst && flag.consumed > clock()[e])
      return core.fault(FaultKind::Flag, describe({uint16_t(cores.size() - 1), uint8_t(engine), clock()[engine]}) +
                                             " may raise its flag while it is still pending: nothing orders it after " +
                                             describe({uint16_t(cores.size() - 1), uint8_t(e), flag.consumed}));
  flag.raised = clock();
}

void Checker::waitFlag(isa::Pipe src, isa::Pipe dst, int64_t id) {
  Flag &flag = flags[unsigned(src) & 15][unsigned(dst) & 15][id];
  flag.consumed = clock()[engine];
  join(clock(), flag.raised);
}

void Checker::accesses(Core &core) {
  list.clear();
  undefinedLanes.clear();
  collectAccesses(resolved, core, list);
  bool ragged = false;
  for (const Access &what : list.accesses) {
    if (ragged && isWrite(what.kind) && undefinedLanes.empty())
      findUndefinedLanes(); // before dst, which may lie over a source, counts as written
    access(core, what);
    if (core.faulted())
      return;
    for (size_t r = what.firstRun; what.kind == AccessKind::Lane && r < what.endRun && !ragged; ++r)
      ragged = list.lanes.size() > 1 && firstUndefined(what, list.runs[r]).has_value();
  }
  for (auto [begin, length] : undefinedLanes)
    locals[unsigned(isa::Memory::UB)].defined->set(begin, length, false);
}

// Elements of dst that come from elements nobody wrote.
void Checker::findUndefinedLanes() {
  const isa::Tile &dst = *list.lanes.back();
  const DefinedShadow &defined = *locals[unsigned(isa::Memory::UB)].defined;
  auto bytesOf = [](const isa::Tile &t, int64_t r, int64_t c) {
    uint64_t bytes = isa::elementBits(t.type) / 8;
    return std::pair(uint64_t(t.address.value) + isa::elementOffset(t.layout, t.type, t.rows, t.cols, uint64_t(r), uint64_t(c)) * bytes, bytes);
  };
  for (int64_t r = 0; r < dst.validRows.value; ++r)
    for (int64_t c = 0; c < dst.validCols.value; ++c)
      for (size_t i = 0; i + 1 < list.lanes.size(); ++i)
        if (auto [begin, bytes] = bytesOf(*list.lanes[i], r, c); defined.firstUndefined(begin, bytes) != begin + bytes) {
          undefinedLanes.push_back(bytesOf(dst, r, c));
          break;
        }
}

/// f(begin, length) for each run.
template <class F> static void forRuns(const ByteRuns &runs, F &&f) {
  uint64_t at = runs.begin;
  for (uint64_t i = 0; i < runs.count; ++i, at += uint64_t(runs.pitch))
    f(at, runs.length);
}

void Checker::access(Core &core, const Access &what) {
  Event event{uint16_t(cores.size() - 1), uint8_t(engine), clock()[engine]};
  Conflict conflict;
  bool add = what.kind == AccessKind::Add, write = isWrite(what.kind);
  for (size_t r = what.firstRun; r < what.endRun; ++r) {
    const ByteRuns &runs = list.runs[r];
    if (what.kind == AccessKind::Read || add)
      if (auto missing = firstUndefined(what, runs))
        return core.fault(FaultKind::Uninitialised, describe(event) + " reads " + place(core, what, *missing) + ", which nothing has written");
    AccessShadow *shadow = nullptr;
    DefinedShadow *defined = nullptr;
    uint64_t origin = 0;
    if (what.global) {
      // A region holds whole arguments, and a run never leaves its argument.
      for (Region &region : regions)
        if (runs.begin >= region.begin && runs.begin < region.end)
          shadow = &region.accesses, origin = region.begin;
      if (!shadow)
        continue;
      if (write)
        defined = &blockOf(runs.begin)->defined;
    } else {
      Local &local = locals[unsigned(what.memory)];
      if (!local.defined) {
        local.defined.emplace(isa::archInfo(arch).memory(what.memory).bytes);
        local.accesses.emplace(isa::archInfo(arch).memory(what.memory).bytes);
      }
      shadow = &*local.accesses;
      defined = &*local.defined;
    }
    forRuns(runs, [&](uint64_t begin, uint64_t length) {
      if (!write)
        return shadow->read(begin - origin, length, event, clock(), conflict);
      shadow->write(begin - origin, length, event, clock(), add, conflict);
      defined->set(what.global ? begin - lastBlock->first : begin, length, what.kind != AccessKind::Touch);
    });
    if (conflict.found) {
      conflict.byte += origin;
      return race(core, what, conflict);
    }
  }
}

std::optional<uint64_t> Checker::firstUndefined(const Access &what, const ByteRuns &runs) {
  std::optional<uint64_t> missing;
  DefinedShadow *defined = nullptr;
  uint64_t origin = 0;
  if (what.global) {
    if (Block *block = blockOf(runs.begin))
      defined = &block->defined, origin = lastBlock->first;
  } else if (locals[unsigned(what.memory)].defined) {
    defined = &*locals[unsigned(what.memory)].defined;
  }
  forRuns(runs, [&](uint64_t begin, uint64_t length) {
    if (missing)
      return;
    uint64_t first = defined ? defined->firstUndefined(begin - origin, length) + origin : begin;
    if (first != begin + length)
      missing = first;
  });
  return missing;
}

//===- what is reported ---------------------------------------------------------------===//

std::string Checker::place(const Core &core, const Access &what, uint64_t byte) const {
  if (!what.global)
    return std::string(isa::kMemoryNames[unsigned(what.memory)]) + " byte " + std::to_string(byte);
  const auto &args = core.launch().args;
  for (size_t i = 0; i < args.size(); ++i)
    if (byte >= args[i].address && byte - args[i].address < args[i].bytes)
      return "byte " + std::to_string(byte - args[i].address) + " of argument " + std::to_string(i);
  return "global memory";
}

std::string Checker::describe(const Event &event) const {
  const CoreLog &log = cores[event.core];
  if (event.time == 0)
    return "core " + log.name;
  const Stream &stream = *log.streams[event.engine];
  const Op &op = stream.ops[log.ops[event.engine][event.time - 1]];
  std::string text = isa::disassemble(op.insn);
  if (text.size() > 110)
    text = text.substr(0, 107) + "...";
  return (event.core + 1u == cores.size() ? "" : log.name + " ") + std::string(isa::pipeName(stream.pipe)) + " word " + std::to_string(op.word) +
         " (" + text + ")";
}

void Checker::race(Core &core, const Access &what, const Conflict &conflict) {
  Event mine{uint16_t(cores.size() - 1), uint8_t(engine), clock()[engine]};
  std::string message = describe(mine) + (isWrite(what.kind) ? " writes " : " reads ") + place(core, what, conflict.byte) + ", which " +
                        describe(conflict.other) + (conflict.otherWrites ? " writes" : " reads") + ": nothing orders them";
  if (conflict.other.core == mine.core && conflict.other.time)
    message += "; missing: a flag between " + std::string(isa::pipeName(cores.back().streams[conflict.other.engine]->pipe)) + " and " +
               isa::pipeName(core.engine().pipe);
  core.fault(FaultKind::Race, std::move(message));
}

} // namespace pto_mlir::cmodel
