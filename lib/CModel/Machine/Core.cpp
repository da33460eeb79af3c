#include "Machine/Core.h"

#include "Machine/Observer.h"
#include "Machine/Program.h"
#include "pto_mlir/ISA/Table.h"

#include <bit>
#include <cassert>
#include <cstring>

namespace pto_mlir::cmodel {

void Engine::start(const Stream &s) {
  stream = &s;
  pipe = s.pipe;
  state = State::Running;
  pc = next = 0;
  executed = 0;
  std::memset(registers, 0, sizeof registers);
  loops.clear();
}

Core::Core(isa::Arch name, Observer *observer) : arch(isa::archInfo(name)), observer(observer) {
  for (unsigned m = 0; m < numMemories; ++m) {
    memories[m].size = arch.memory(isa::Memory(m)).bytes;
    memories[m].alignment = arch.memory(isa::Memory(m)).alignment;
    assert(std::has_single_bit(memories[m].alignment));
  }
}

// Local memories are undefined when a kernel starts. They are filled with 0xff: a float read before it is written is
// NaN, and results cannot depend on what ran on the core before.
void Core::reset() {
  for (Memory &m : memories)
    if (m.used) {
      std::memset(m.data, 0xff, m.used);
      m.used = 0;
    }
  std::memset(flags, 0, sizeof flags);
  for (auto &f : fifos)
    f.clear();
  leftPanels.clear();
  rightPanels.clear();
  pending.reset();
}

void Core::begin(const LaunchState &launch, const CorePlace &where, CrossFlags<NoToken> *shared, size_t position) {
  state = &launch;
  place = where;
  cross = shared;
  positionInGroup = position;
  group = {};
  reset();
  size_t count = 0;
  for (const Stream &s : launch.kernel->streams)
    if (s.kind == place.kind) {
      if (engines.size() <= count)
        engines.emplace_back();
      engines[count++].start(s);
    }
  engines.resize(count);
  if (observer)
    observer->coreBegin(*this);
}

Core::Progress Core::advance() {
  bool moved = false, alive = false;
  for (Engine &e : engines) {
    if (e.state == Engine::State::Ended)
      continue;
    uint64_t before = e.executed;
    observer ? observedStep(e) : step(e);
    if (pending)
      return Progress::Ended;
    moved |= e.executed != before || e.state == Engine::State::Ended;
    alive |= e.state != Engine::State::Ended;
  }
  return !alive ? Progress::Ended : moved ? Progress::Moved : Progress::Stuck;
}

std::optional<Fault> Core::end() {
  finish();
  if (!pending && observer)
    observer->coreEnd(*this);
  return takeFault();
}

Counters Core::takeCounters() {
  for (Engine &e : engines)
    counters.instructions += std::exchange(e.executed, 0);
  return std::exchange(counters, {});
}

std::optional<Fault> Core::run(const LaunchState &launch, const CorePlace &where) {
  if (observer)
    observer->groupBegin({where});
  begin(launch, where, nullptr, 0);
  Progress progress = Progress::Moved;
  while (progress == Progress::Moved)
    progress = advance();
  // No engine made progress in a whole round: deadlock.
  if (!pending && progress == Progress::Stuck)
    deadlock();
  return pending ? takeFault() : end();
}

void Core::step(Engine &e) {
  current = &e;
  e.state = Engine::State::Running;
  const std::vector<Op> &ops = e.stream->ops;
  while (e.pc < ops.size()) {
    const Op &op = ops[e.pc];
    e.next = e.pc + 1;
    op.run(op.insn, *this);
    if (pending || e.state == Engine::State::Blocked)
      return;
    ++e.executed;
    e.pc = e.next;
  }
  e.state = Engine::State::Ended;
}

// As step(), notifying the observer before and after each instruction.
void Core::observedStep(Engine &e) {
  current = &e;
  e.state = Engine::State::Running;
  const std::vector<Op> &ops = e.stream->ops;
  while (e.pc < ops.size()) {
    const Op &op = ops[e.pc];
    e.next = e.pc + 1;
    observer->before(*this, op);
    op.run(op.insn, *this);
    if (pending || e.state == Engine::State::Blocked)
      return;
    observer->after(*this, op);
    if (pending)
      return;
    ++e.executed;
    e.pc = e.next;
    if (observer->pause(*this))
      return;
  }
  e.state = Engine::State::Ended;
}

std::string Core::name() const {
  return place.kind == isa::CoreKind::AIC ? "AIC" + std::to_string(place.block)
                                          : "AIV" + std::to_string(place.block) + "." + std::to_string(place.subblock);
}

std::string Core::engineName(isa::Pipe pipe) const {
  const char *pipeName = isa::pipeName(pipe);
  return name() + " " + (pipeName ? pipeName : "?");
}

void Core::fault(FaultKind faultKind, std::string message) {
  if (pending)
    return; // the first fault is reported
  pending = Fault{faultKind, std::move(message), engineName(current->pipe), place.block, 0};
  if (current->pc < current->stream->ops.size())
    pending->word = current->stream->ops[current->pc].word;
}

static std::string flagName(isa::Pipe src, isa::Pipe dst, unsigned id) {
  return std::string(isa::pipeName(src)) + " -> " + isa::pipeName(dst) + " id " + std::to_string(id);
}

std::string Core::describeWait(Engine &e, const std::function<std::string(size_t)> &nameOf) {
  const Op &op = e.stream->ops[e.pc];
  std::string who = std::string(isa::pipeName(e.pipe)) + " (word " + std::to_string(op.word) + ")";
  auto read = [&](auto insn) {
    isa::resolve(insn, [&](unsigned r) { return e.registers[r]; });
    return insn;
  };
  switch (op.insn.opcode) {
  case isa::Opcode::SetFlag: {
    auto set = read(op.insn.as<isa::SetFlag>());
    return who + " cannot raise flag " + flagName(set.src, set.dst, unsigned(set.id.value)) + " twice";
  }
  case isa::Opcode::WaitFlag: {
    auto wait = read(op.insn.as<isa::WaitFlag>());
    return who + " waits for flag " + flagName(wait.src, wait.dst, unsigned(wait.id.value));
  }
  case isa::Opcode::CrossSet:
    return who + " cannot raise cross-core flag " + std::to_string(read(op.insn.as<isa::CrossSet>()).id.value) +
           " beyond " + std::to_string(isa::kMostCrossRaises);
  case isa::Opcode::CrossWait: {
    auto id = unsigned(read(op.insn.as<isa::CrossWait>()).id.value);
    std::string text = who + " waits for cross-core flag " + std::to_string(id);
    std::vector<size_t> missing = cross->missing(positionInGroup, id);
    for (size_t i = 0; i < missing.size() && i < 3; ++i)
      text += (i ? ", " : ", not raised by ") + nameOf(missing[i]);
    return text + (missing.size() > 3 ? ", ..." : "");
  }
  case isa::Opcode::WaitCell: {
    auto wait = read(op.insn.as<isa::WaitCell>());
    const pto_arg &arg = state->args[wait.src.arg];
    int32_t held = 0;
    std::memcpy(&held, reinterpret_cast<const void *>(arg.address + uint64_t(wait.src.offset.value)), sizeof held);
    return who + " waits for the cell " + std::to_string(wait.src.offset.value) + " bytes into argument " +
           std::to_string(wait.src.arg) + ", which is " + std::to_string(held) + ", to be " +
           (wait.mode == isa::CellCompare::ge ? "at least " : "") + std::to_string(wait.value.value);
  }
  default:
    return who + " waits for a value from S";
  }
}

std::string Core::describeWaits(const std::function<std::string(size_t)> &nameOf) {
  std::string message;
  for (Engine &e : engines)
    if (e.state == Engine::State::Blocked) {
      if (message.empty())
        current = &e;
      message += (message.empty() ? "" : ", ") + describeWait(e, nameOf);
    }
  return message;
}

void Core::deadlock() {
  std::string message;
  Engine *first = nullptr;
  for (Engine &e : engines) {
    if (e.state != Engine::State::Blocked)
      continue;
    const Op &op = e.stream->ops[e.pc];
    if (op.insn.opcode == isa::Opcode::SetFlag) {
      isa::SetFlag set = op.insn.as<isa::SetFlag>();
      isa::resolve(set, [&](unsigned r) { return e.registers[r]; });
      current = &e;
      return fault(FaultKind::Flag, "flag " + flagName(set.src, set.dst, unsigned(set.id.value)) + " is raised twice");
    }
    message += (first ? "; " : "") + describeWait(e, [](size_t) { return std::string(); });
    if (!first)
      first = &e;
  }
  current = first;
  fault(FaultKind::Deadlock, message);
}

void Core::finish() {
  // Report the last command that may have set this flag: it is set but never waited for.
  auto standAtSet = [this](Engine &engine, isa::Pipe dst, unsigned id) {
    current = &engine;
    for (size_t i = engine.stream->ops.size(); i-- > 0;)
      if (const isa::DecodedInsn &insn = engine.stream->ops[i].insn; insn.opcode == isa::Opcode::SetFlag) {
        const isa::SetFlag &set = insn.as<isa::SetFlag>();
        if (set.dst == dst && (set.id.isRegister || set.id.value == int64_t(id))) {
          engine.pc = i;
          return;
        }
      }
  };
  for (unsigned src = 0; src < numPipes; ++src)
    for (unsigned dst = 0; dst < numPipes; ++dst) {
      uint64_t ids;
      std::memcpy(&ids, flags[src][dst], sizeof ids);
      if (!ids)
        continue;
      for (unsigned id = 0; id < numIds; ++id)
        if (flags[src][dst][id]) {
          for (Engine &e : engines)
            if (e.pipe == isa::Pipe(src))
              standAtSet(e, isa::Pipe(dst), id);
          return fault(FaultKind::Flag, "flag " + flagName(isa::Pipe(src), isa::Pipe(dst), id) +
                                            " is still raised at the end of the kernel");
        }
    }
  for (unsigned p = 0; p < numPipes; ++p)
    if (!fifos[p].empty()) {
      current = &engines.front();
      return fault(FaultKind::Flag, "the FIFO from S to pipe " + std::to_string(p) + " still holds " +
                                        std::to_string(fifos[p].size()) + " values at the end of the kernel");
    }
}

void Core::setFlag(isa::Pipe src, isa::Pipe dst, int64_t id) {
  if (id < 0 || id >= int64_t(arch.eventIds))
    return fault(FaultKind::Flag,
                 "flag id " + std::to_string(id) + " is not in 0.." + std::to_string(arch.eventIds - 1));
  uint8_t &flag = flags[unsigned(src) & 15][unsigned(dst) & 15][id];
  if (flag && observer && observer->judgesFlags())
    return current->block();
  if (flag)
    return fault(FaultKind::Flag, "flag " + flagName(src, dst, unsigned(id)) + " is raised twice");
  flag = 1;
}

void Core::waitFlag(isa::Pipe src, isa::Pipe dst, int64_t id) {
  if (id < 0 || id >= int64_t(arch.eventIds))
    return fault(FaultKind::Flag,
                 "flag id " + std::to_string(id) + " is not in 0.." + std::to_string(arch.eventIds - 1));
  uint8_t &flag = flags[unsigned(src) & 15][unsigned(dst) & 15][id];
  if (!flag)
    return current->block();
  flag = 0;
}

void Core::raiseCross(isa::CrossMode mode, int64_t id) {
  unsigned count = arch.crossFlags;
  if (mode == isa::CrossMode::lane && place.kind == isa::CoreKind::AIC)
    count *= arch.vectorCores;
  if (id < 0 || id >= int64_t(count))
    return fault(FaultKind::Flag,
                 "cross-core flag " + std::to_string(id) + " is not in 0.." + std::to_string(count - 1));
  if (cross->isFull(positionInGroup, mode, unsigned(id)))
    return current->block(); // until a wait lowers it
  cross->raise(positionInGroup, mode, unsigned(id), {}, [](NoToken &, const NoToken &) {}, [](size_t, unsigned) {});
}

void Core::waitCross(int64_t id) {
  if (id < 0 || id >= int64_t(CrossFlags<NoToken>::numIds))
    return fault(FaultKind::Flag, "cross-core flag " + std::to_string(id) + " is not in 0.." +
                                      std::to_string(CrossFlags<NoToken>::numIds - 1));
  if (!cross->take(positionInGroup, unsigned(id)))
    current->block();
}

uint8_t *Core::locate(isa::Memory memory, uint64_t address, uint64_t bytes) {
  Memory &m = memories[unsigned(memory)];
  if ((address & (m.alignment - 1)) != 0 || address > m.size || bytes > m.size - address) [[unlikely]]
    return faultOfPlace(memory, address, bytes), nullptr;
  if (!m.data) [[unlikely]]
    allocate(m);
  m.used = std::max(m.used, uint32_t(address + bytes));
  return m.data + address;
}

void Core::faultOfPlace(isa::Memory memory, uint64_t address, uint64_t bytes) {
  const Memory &m = memories[unsigned(memory)];
  std::string name = isa::kMemoryNames[unsigned(memory)];
  if (address % m.alignment != 0)
    return fault(FaultKind::Misaligned, name + " address " + std::to_string(int64_t(address)) +
                                            " is not a multiple of " + std::to_string(m.alignment));
  fault(FaultKind::OutOfRange, name + " bytes [" + std::to_string(int64_t(address)) + ", " +
                                   std::to_string(int64_t(address + bytes)) + ") lie outside its " +
                                   std::to_string(m.size) + " bytes");
}

void Core::allocate(Memory &m) {
  constexpr size_t line = 64;
  m.storage = std::make_unique_for_overwrite<uint8_t[]>(m.size + line);
  m.data = m.storage.get() + (line - reinterpret_cast<uintptr_t>(m.storage.get()) % line) % line;
  std::memset(m.data, 0xff, m.size);
}

LocalTile Core::tile(const isa::Tile &operand, isa::Memory memory) {
  LocalTile t = describe(operand);
  if (!pending)
    t.data = locate(memory, uint64_t(operand.address.value), t.extent());
  return t;
}

LocalTile Core::wholeTile(const isa::Tile &operand, isa::Memory memory) {
  LocalTile t = describe(operand);
  if (!pending)
    t.data = locate(memory, uint64_t(operand.address.value),
                    isa::tileExtent(t.layout, t.type, t.rows, t.cols, t.rows, t.cols));
  return t;
}

std::optional<size_t> Core::peerWith(isa::Memory memory, uint32_t subblock) const {
  isa::CoreKind kind = memory == isa::Memory::UB ? isa::CoreKind::AIV : isa::CoreKind::AIC;
  for (size_t i = 0; i < group.size(); ++i)
    if (const CorePlace &other = group[i]->place;
        other.kind == kind && other.block == place.block && other.subblock == subblock)
      return i;
  return std::nullopt;
}

LocalTile Core::peerTile(const isa::Tile &operand, isa::Memory memory, uint32_t subblock, bool whole) {
  LocalTile t = describe(operand);
  std::optional<size_t> peer = peerWith(memory, subblock);
  if (pending || !peer)
    return t;
  Core &other = *group[*peer];
  Engine *its = std::exchange(other.current, current); // a fault is attributed to this engine
  t = whole ? other.wholeTile(operand, memory) : other.tile(operand, memory);
  other.current = its;
  if (std::optional<Fault> wrong = other.takeFault())
    fault(wrong->kind, wrong->message);
  return t;
}

LocalTile Core::describe(const isa::Tile &operand) {
  LocalTile t;
  t.type = operand.type;
  t.layout = operand.layout;
  t.pad = operand.pad;
  t.bytes = isa::elementBits(operand.type) / 8;
  t.rows = operand.rows;
  t.cols = operand.cols;
  if (pending)
    return t;
  int64_t validRows = operand.validRows.value, validCols = operand.validCols.value;
  if (validRows < 0 || validRows > t.rows || validCols < 0 || validCols > t.cols) [[unlikely]]
    return faultOfShape(operand), t;
  t.validRows = uint32_t(validRows);
  t.validCols = uint32_t(validCols);
  return t; // 4-bit elements have 0 bytes; instructions that allow them handle that
}

void Core::faultOfShape(const isa::Tile &operand) {
  fault(FaultKind::IllegalShape, "valid region " + std::to_string(operand.validRows.value) + "x" +
                                     std::to_string(operand.validCols.value) + " of a tile of " +
                                     std::to_string(operand.rows) + "x" + std::to_string(operand.cols));
}

GlobalView Core::view(const isa::View &operand) {
  GlobalView v;
  v.type = operand.type;
  v.layout = operand.layout;
  v.bytes = isa::elementBits(operand.type) / 8;
  v.rank = operand.rank;
  if (pending)
    return v;
  for (unsigned i = 0; i < v.rank; ++i) {
    v.sizes[i] = operand.sizes[i].value;
    v.strides[i] = operand.strides[i].value;
    if (v.sizes[i] < 0 || v.sizes[i] >= (int64_t(1) << 31) || v.strides[i] <= -(int64_t(1) << 40) ||
        v.strides[i] >= (int64_t(1) << 40)) {
      fault(FaultKind::IllegalShape, "dimension " + std::to_string(i) + " of the view has size " +
                                         std::to_string(v.sizes[i]) + " and stride " + std::to_string(v.strides[i]));
      return v;
    }
  }
  if (operand.arg >= state->args.size()) {
    fault(FaultKind::OutOfRange,
          "argument " + std::to_string(operand.arg) + " of " + std::to_string(state->args.size()));
    return v;
  }
  if (v.bytes == 0) {
    fault(FaultKind::IllegalType,
          std::string("elements of type ") + isa::elementName(v.type) + " have no byte address");
    return v;
  }
  const pto_arg &arg = state->args[operand.arg];
  uint64_t offset = uint64_t(operand.offset.value);
  if (offset > arg.bytes) {
    fault(FaultKind::OutOfRange, "offset " + std::to_string(operand.offset.value) + " in argument " +
                                     std::to_string(operand.arg) + " of " + std::to_string(arg.bytes) + " bytes");
    return v;
  }
  v.base = reinterpret_cast<uint8_t *>(arg.address + offset);
  v.begin = -int64_t(offset);
  v.end = int64_t(arg.bytes - offset);
  return v;
}

} // namespace pto_mlir::cmodel
