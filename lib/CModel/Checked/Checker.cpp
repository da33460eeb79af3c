#include "Checked/Checker.h"

#include "pto_mlir/ISA/OperandList.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pto_mlir::cmodel {
namespace {

/// The argument that a store instruction writes to.
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
  if (insn.opcode == isa::Opcode::Notify)
    return insn.as<isa::Notify>().dst.arg;
  return std::nullopt;
}

} // namespace

//===- host accesses ----------------------------------------------------------------===//

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
  tasks.launchBegin(launch.kernel->name);
  std::vector<Argument> arguments;
  addArguments(launch, arguments);
  makeRegions(std::move(arguments));
}

void Checker::addArguments(const LaunchState &launch, std::vector<Argument> &arguments) {
  std::vector<bool> isWritten(launch.args.size());
  for (const Stream &stream : launch.kernel->streams)
    for (const Op &op : stream.ops)
      if (auto arg = storedArgument(op.insn); arg && *arg < launch.args.size())
        isWritten[*arg] = true;
  for (size_t i = 0; i < launch.args.size(); ++i)
    if (launch.args[i].bytes > 0)
      arguments.push_back({launch.args[i].address, launch.args[i].address + launch.args[i].bytes, isWritten[i]});
}

/// Arguments may lie inside of each other's rows: a region holds all that overlap, if one of them is written.
void Checker::makeRegions(std::vector<Argument> arguments) {
  std::sort(arguments.begin(), arguments.end(), [](const Argument &a, const Argument &b) { return a.begin < b.begin; });
  std::vector<Argument> merged;
  for (auto [begin, end, isWritten] : arguments) {
    begin = begin / 32 * 32;
    if (merged.empty() || begin >= merged.back().end) {
      merged.push_back({begin, end, isWritten});
      continue;
    }
    merged.back().end = std::max(merged.back().end, end);
    merged.back().isWritten |= isWritten;
  }
  for (auto [begin, end, isWritten] : merged)
    if (isWritten)
      regions.push_back({begin, end, AccessShadow(end - begin)});
}

void Checker::launchEnd(const LaunchState &, pto_profile &) {
  tasks.launchEnd();
  regions.clear();
  cores.clear();
}

//===- core accesses -----------------------------------------------------------------===//

void Checker::groupBegin(const std::vector<CorePlace> &places) {
  if (!ranks.empty())
    return rankGroupBegin(places);
  signals.clear();
  unwritten.clear();
  groupSize = places.size();
  firstEngine = uint32_t(cores.size() * maxEngines);
  if (states.size() < groupSize)
    states.resize(groupSize);
  cores.resize(cores.size() + groupSize);
  crossFlags.reset(places);
  groupKnows.assign(groupSize * maxEngines, 0);
}

void Checker::coreBegin(Core &core) {
  CoreLog &log = cores[cores.size() - groupSize + firstCore + core.position()];
  log.name = core.name();
  CoreLog::Stay &stay = log.stays.emplace_back(CoreLog::Stay{core.launch().kernel, {}, {}});
  for (Engine &e : core.allEngines())
    stay.streams.push_back(e.stream);
  for (unsigned e = 0; e < maxEngines; ++e)
    stay.first[e] = uint32_t(log.ops[e].size());
  CoreState &mine = states[firstCore + core.position()];
  for (Local &local : mine.locals)
    if (local.defined) {
      local.defined->clear();
      local.accesses->clear();
    }
  for (Clock &c : mine.clocks)
    c = groupKnows;
  mine.core = ++coresSoFar;
  for (auto &queue : mine.queues)
    queue.clear();
  for (unsigned id = 0; id < CrossFlags<Clock>::numIds; ++id) {
    mine.crossTaken[id].clear();
    mine.crossRaised[id] = 0;
  }
}

void Checker::before(Core &core, const Op &op) {
  if (isa::isPlainScalar(op.insn.opcode))
    return;
  resolved = op.insn;
  isa::resolveRegisters(resolved, core.engine().registers);
}

void Checker::after(Core &core, const Op &op) {
  if (isa::isPlainScalar(op.insn.opcode))
    return;
  position = firstCore + core.position();
  state = &states[position];
  engine = unsigned(&core.engine() - core.allEngines().data());
  ++clock()[position * maxEngines + engine];
  cores[cores.size() - groupSize + position].ops[engine].push_back(core.engine().pc);
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
    state->queues[unsigned(resolved.as<isa::Push>().engine) & 15].push_back(clock());
    return;
  case isa::Opcode::Pop: {
    auto &queue = state->queues[unsigned(core.engine().pipe) & 15];
    join(clock(), queue.front());
    return queue.pop_front();
  }
  case isa::Opcode::CrossSet:
    return raiseCross(core, resolved.as<isa::CrossSet>().mode, unsigned(resolved.as<isa::CrossSet>().id.value));
  case isa::Opcode::CrossWait:
    return waitCross(unsigned(resolved.as<isa::CrossWait>().id.value));
  case isa::Opcode::Notify:
    accesses(core);
    return notify(core, resolved.as<isa::Notify>());
  case isa::Opcode::WaitCell: {
    const auto &wait = resolved.as<isa::WaitCell>();
    signals.wait(uint64_t(core.view(wait.src).base), wait.mode, wait.value.value, clock());
    return accesses(core);
  }
  default:
    return accesses(core);
  }
}

Checker::Flag &Checker::flag(isa::Pipe src, isa::Pipe dst, int64_t id) {
  Flag &f = state->flags[((unsigned(src) & 15) * numPipes + (unsigned(dst) & 15)) * numIds + unsigned(id)];
  if (f.core != state->core) {
    f.core = state->core;
    f.consumed = 0;
  }
  return f;
}

void Checker::setFlag(Core &core, isa::Pipe src, isa::Pipe dst, int64_t id) {
  Flag &f = flag(src, dst, id);
  // In another schedule this set could run before the previous token is consumed; the flag would be set twice.
  const auto &streams = cores[cores.size() - groupSize + position].stays.back().streams;
  for (unsigned e = 0; e < streams.size(); ++e)
    if (streams[e]->pipe == dst && f.consumed > clock()[position * maxEngines + e])
      return core.fault(FaultKind::Flag, describe(now()) +
                                             " may raise its flag while it is still pending: nothing orders it after " +
                                             describe({now().engine - engine + e, f.consumed}));
  f.raised = clock();
}

void Checker::waitFlag(isa::Pipe src, isa::Pipe dst, int64_t id) {
  Flag &f = flag(src, dst, id);
  f.consumed = clock()[position * maxEngines + engine];
  join(clock(), f.raised);
}

void Checker::raiseCross(Core &core, isa::CrossMode mode, unsigned id) {
  crossFlagsOfGroup().raise(position - firstCore, mode, id, clock(), join, [&](size_t target, unsigned targetId) {
    // All earlier raises but the last kMostCrossRaises must be consumed before this one in every schedule.
    target += firstCore;
    CoreState &other = states[target];
    uint32_t count = ++other.crossRaised[targetId];
    if (count <= isa::kMostCrossRaises || core.faulted())
      return;
    const auto &taken = other.crossTaken[targetId];
    size_t needed = count - isa::kMostCrossRaises - 1;
    if (needed >= taken.size() || !known().has(taken[needed].engine - firstEngine, taken[needed].time))
      core.fault(FaultKind::Flag, describe(now()) + " may raise cross-core flag " + std::to_string(targetId) + " of " +
                                      cores[cores.size() - groupSize + target].name + " beyond " +
                                      std::to_string(isa::kMostCrossRaises));
  });
}

void Checker::waitCross(unsigned id) {
  if (auto token = crossFlagsOfGroup().take(position - firstCore, id))
    join(clock(), *token);
  state->crossTaken[id].push_back(now());
}

void Checker::notify(Core &core, const isa::Notify &insn) {
  const uint8_t *cell = core.view(insn.dst).base;
  if (core.faulted())
    return;
  int32_t after = 0;
  std::memcpy(&after, cell, sizeof after);
  Event event = now();
  signals.notify(uint64_t(cell), insn.mode, int32_t(insn.value.value), after, {event.engine - firstEngine, event.time},
                 clock());
}

void Checker::accesses(Core &core) {
  list.clear();
  undefinedLanes.clear();
  collectAccesses(resolved, core, list);
  bool ragged = false, found = false;
  for (const Access &what : list.accesses) {
    if (ragged && isWrite(what.kind) && !std::exchange(found, true))
      findUndefinedLanes(core); // before the write: dst may alias a source
    access(core, what);
    if (core.faulted())
      return;
    for (size_t r = what.firstRun; what.kind == AccessKind::Lane && r < what.endRun && !ragged; ++r)
      ragged = firstUndefined(what, list.runs[r]).has_value();
  }
  markUndefinedLanes();
}

void Checker::access(Core &core, const Access &what) {
  Event event = now();
  Known mine = known();
  Conflict conflict;
  bool add = isAddition(what.kind), write = isWrite(what.kind);
  for (size_t r = what.firstRun; r < what.endRun; ++r) {
    const ByteRuns &runs = list.runs[r];
    if (what.kind == AccessKind::Read || what.kind == AccessKind::Pick || what.kind == AccessKind::Add)
      if (auto missing = firstUndefined(what, runs))
        return undefined(core, what, *missing);
    AccessShadow *shadow = nullptr;
    DefinedShadow *defined = nullptr;
    uint64_t origin = 0;
    if (what.global) {
      if (taskRace(core, what, runs); core.faulted())
        return;
      // Regions hold whole arguments, and a run never leaves its argument.
      for (Region &region : regions)
        if (runs.begin >= region.begin && runs.begin < region.end)
          shadow = &region.accesses, origin = region.begin;
      if (!shadow)
        continue;
      if (write)
        defined = &blockOf(runs.begin)->defined;
    } else {
      size_t owner = what.peer ? firstCore + *what.peer : position;
      defined = &definedOf(owner, what.memory);
      shadow = &*states[owner].locals[unsigned(what.memory)].accesses;
    }
    forRuns(runs, [&](uint64_t begin, uint64_t length) {
      if (!write)
        return shadow->read(begin - origin, length, event, mine, conflict);
      shadow->write(begin - origin, length, event, mine, add, conflict);
      defined->set(what.global ? begin - lastBlock->first : begin, length, what.kind != AccessKind::Touch);
    });
    if (conflict.found) {
      conflict.byte += origin;
      return race(core, what, conflict);
    }
  }
}

} // namespace pto_mlir::cmodel
