#include "pto_mlir/Cost/Playback.h"
#include "pto_mlir/ISA/OperandList.h"

namespace pto_mlir::cost {
namespace {

constexpr uint32_t kQueueChannels = 4096; // behind those of flags

uint32_t flagChannel(isa::Pipe src, isa::Pipe dst, int64_t id) {
  return (uint32_t(src) & 15) << 8 | (uint32_t(dst) & 15) << 4 | uint32_t(id);
}

uint32_t queueChannel(isa::Pipe engine) { return kQueueChannels + (uint32_t(engine) & 15); }

/// Flags and queues as events; Work for everything else.
Event signalOf(const isa::DecodedInsn &insn, isa::Pipe pipe) {
  Event event;
  event.work = 1;
  switch (insn.opcode) {
  case isa::Opcode::SetFlag: {
    const auto &set = insn.as<isa::SetFlag>();
    event.kind = Event::Signal, event.channel = flagChannel(set.src, set.dst, set.id.value);
    break;
  }
  case isa::Opcode::WaitFlag: {
    const auto &wait = insn.as<isa::WaitFlag>();
    event.kind = Event::Await, event.channel = flagChannel(wait.src, wait.dst, wait.id.value);
    break;
  }
  case isa::Opcode::CrossSet: {
    const auto &set = insn.as<isa::CrossSet>();
    event.kind = Event::CrossRaise, event.channel = uint32_t(set.mode) << 8 | uint32_t(set.id.value);
    break;
  }
  case isa::Opcode::CrossWait:
    event.kind = Event::CrossAwait, event.channel = uint32_t(insn.as<isa::CrossWait>().id.value);
    break;
  case isa::Opcode::Push:
    event.kind = Event::Signal, event.channel = queueChannel(insn.as<isa::Push>().engine);
    break;
  case isa::Opcode::Pop:
    event.kind = Event::Await, event.channel = queueChannel(pipe);
    break;
  default:
    break;
  }
  return event;
}

} // namespace

Event *Recorder::note(const isa::DecodedInsn &insn, uint32_t op) {
  std::vector<Event> &events = log.events;
  if (isa::isPlainScalar(insn.opcode)) {
    // Engines take their scalar code from S, ahead of time; only there it costs a cycle each.
    if (log.pipe != isa::Pipe::S)
      return nullptr;
    if (events.empty() || events.back().kind != Event::Work)
      events.emplace_back().op = op;
    events.back().work += 1;
    return nullptr;
  }
  Event event = signalOf(insn, log.pipe);
  event.op = op;
  if (event.kind == Event::Work) {
    InsnCost cost = costOf(insn, chip);
    event.path = cost.path, event.bytes = cost.bytes;
    event.head = float(cost.head), event.work = float(cost.work), event.tail = float(cost.tail);
    event.depends = log.pipe == isa::Pipe::V && dependsOnFresh(insn);
  }
  events.push_back(event);
  return &events.back();
}

// A vector instruction may overlap the one before it unless it accesses bytes that this one is still writing.
bool Recorder::dependsOnFresh(const isa::DecodedInsn &insn) {
  isa::OperandList o(insn);
  auto extent = [](const isa::Tile &t) {
    auto begin = uint64_t(t.address.value);
    return std::pair(begin, begin + isa::tileExtent(t.layout, t.type, t.rows, t.cols, uint64_t(t.validRows.value),
                                                    uint64_t(t.validCols.value)));
  };
  bool depends = false;
  for (unsigned i = 0; i < o.numTiles; ++i) {
    auto [begin, end] = extent(*o.tiles[i]);
    for (auto [freshBegin, freshEnd] : fresh)
      depends |= begin < freshEnd && freshBegin < end;
  }
  if (depends)
    fresh.clear();
  for (unsigned i = 0; i < o.numTiles; ++i)
    if (o.isWritten(i))
      fresh.push_back(extent(*o.tiles[i]));
  return depends;
}

} // namespace pto_mlir::cost
