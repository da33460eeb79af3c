// What the checked mode says of a race, and of bytes that nothing has written, which copies and arithmetic carry to
// where they are used.
#include "Checked/Checker.h"
#include "Tiles/Mask.h"

#include <functional>

namespace pto_mlir::cmodel {
namespace {

using Order = LaneSource::Order;

/// The first byte of element (row, col) of a tile, and the bytes that it lies in.
std::pair<uint64_t, uint64_t> bytesOf(const isa::Tile &t, uint64_t row, uint64_t col) {
  uint64_t bits = isa::elementBits(t.type), offset = isa::elementOffset(t.layout, t.type, t.rows, t.cols, row, col);
  return {uint64_t(t.address.value) + offset * bits / 8, std::max<uint64_t>(bits / 8, 1)};
}

/// Whether the instruction hands its elements on as they are.
bool isCopy(isa::Opcode opcode) {
  switch (opcode) {
  case isa::Opcode::TLoad:
  case isa::Opcode::TMov:
  case isa::Opcode::TTrans:
  case isa::Opcode::TFillpad:
  case isa::Opcode::TFillpadL1:
  case isa::Opcode::TRowexpand:
  case isa::Opcode::TColexpand:
  case isa::Opcode::TExtractL0a:
  case isa::Opcode::TExtractL0b:
  case isa::Opcode::TExtractSa:
  case isa::Opcode::TExtractSb:
  case isa::Opcode::TExtractUb:
  case isa::Opcode::TInsertUb:
  case isa::Opcode::TInsertL1:
  case isa::Opcode::TMovBt:
  case isa::Opcode::TMovFb:
  case isa::Opcode::TSel:
  case isa::Opcode::TSels:
    return true;
  default:
    return false;
  }
}

/// Whether source `lane` of a selection gives element (row, col) of dst; true of other instructions, and where dst has
/// overwritten the mask.
std::function<bool(size_t, uint64_t, uint64_t)> selection(const isa::DecodedInsn &insn, Core &core) {
  auto of = [&core](const isa::Tile &dst, const isa::Tile &mask) -> std::function<bool(size_t, uint64_t, uint64_t)> {
    LocalTile to = core.tile(dst, isa::Memory::UB), bits = core.wholeTile(mask, isa::Memory::UB);
    size_t maskBytes = size_t(bits.rows) * bits.cols * bits.bytes;
    if (to.data < bits.data + maskBytes && bits.data < to.data + to.extent())
      return [](size_t, uint64_t, uint64_t) { return true; };
    return [bits](size_t lane, uint64_t row, uint64_t col) {
      return (maskRow(bits, uint32_t(row))[col / 8] >> col % 8 & 1) == (lane == 0);
    };
  };
  if (insn.opcode == isa::Opcode::TSel)
    return of(insn.as<isa::TSel>().dst, insn.as<isa::TSel>().mask);
  if (insn.opcode == isa::Opcode::TSels)
    return of(insn.as<isa::TSels>().dst, insn.as<isa::TSels>().mask);
  return [](size_t, uint64_t, uint64_t) { return true; };
}

} // namespace

//===- races ------------------------------------------------------------------===//

std::string Checker::place(const Core &core, const Access &what, uint64_t byte) const {
  if (!what.global)
    return std::string(isa::kMemoryNames[unsigned(what.memory)]) + " byte " + std::to_string(byte);
  const auto &args = core.launch().args;
  for (size_t i = 0; i < args.size(); ++i)
    if (byte >= args[i].address && byte - args[i].address < args[i].bytes)
      return "byte " + std::to_string(byte - args[i].address) + " of argument " + std::to_string(i);
  return "global memory";
}

const Checker::CoreLog::Stay &Checker::CoreLog::stayOf(const Event &event) const {
  size_t stay = stays.size() - 1;
  while (stay > 0 && stays[stay].first[event.engine % maxEngines] >= event.time)
    --stay;
  return stays[stay];
}

std::string Checker::describe(const Event &event) {
  const CoreLog &log = cores[event.core()];
  if (event.time == 0)
    return "core " + log.name;
  unsigned place = event.engine % maxEngines;
  const CoreLog::Stay &stay = log.stayOf(event);
  const Stream &stream = *stay.streams[place];
  const Op &op = stream.ops[log.ops[place][event.time - 1]];
  std::string text = isa::disassemble(op.insn);
  if (text.size() > 110)
    text = text.substr(0, 107) + "...";
  std::string who = event.core() == now().core() ? "" : log.name + " ";
  if (std::string launch = launchOf(event); !launch.empty())
    who = launch + log.name + " ";
  return who + isa::pipeName(stream.pipe) + " word " + std::to_string(op.word) + " (" + text + ")";
}

void Checker::taskRace(Core &core, const Access &what, const ByteRuns &runs) {
  if (!tasks.isActive())
    return;
  std::string engine = core.name() + " " + isa::pipeName(core.engine().pipe);
  uint32_t word = core.engine().stream->ops[core.engine().pc].word;
  forRuns(runs, [&](uint64_t begin, uint64_t length) {
    if (core.faulted())
      return;
    if (auto other = tasks.access(begin, length, what.kind, engine, word))
      core.fault(FaultKind::TaskRace, std::string(isWrite(what.kind) ? "writes " : "reads ") +
                                          place(core, what, begin) + ", which " + *other +
                                          ": no dependency orders the tasks");
  });
}

void Checker::race(Core &core, const Access &what, const Conflict &conflict) {
  Event mine = now();
  bool waits = resolved.opcode == isa::Opcode::WaitCell;
  std::string message = describe(mine) +
                        (waits                ? " waits for "
                         : isWrite(what.kind) ? " writes "
                                              : " reads ") +
                        place(core, what, conflict.byte) + ", which " + describe(conflict.other) +
                        (conflict.otherWrites ? " writes" : " reads") + ": nothing orders them";
  if (!launchOf(conflict.other).empty()) {
    message += "; missing: a notify behind the one and a wait in front of the other";
  } else if (conflict.other.time && conflict.other.engine >= firstEngine) {
    bool here = conflict.other.core() == mine.core();
    const CoreLog &log = cores[conflict.other.core()];
    auto name = [&](const CoreLog &of, isa::Pipe pipe) { return (here ? "" : of.name + " ") + isa::pipeName(pipe); };
    message += std::string("; missing: a ") + (here ? "flag" : "cross-core flag") + " between " +
               name(log, log.stays.back().streams[conflict.other.engine % maxEngines]->pipe) + " and " +
               name(cores[mine.core()], core.engine().pipe);
  }
  core.fault(FaultKind::Race, std::move(message));
}

//===- bytes that nothing has written ------------------------------------------------===//

DefinedShadow &Checker::definedOf(size_t core, isa::Memory memory) {
  std::optional<DefinedShadow> &defined = states[core].locals[unsigned(memory)].defined;
  if (!defined) {
    defined.emplace(isa::archInfo(arch).memory(memory).bytes);
    states[core].locals[unsigned(memory)].accesses.emplace(isa::archInfo(arch).memory(memory).bytes);
  }
  return *defined;
}

/// The number of the load that brought an undefined byte of a source; 0: none. `seen`: what numbers of this instruction
/// have become.
uint32_t Checker::loadOfLane(Core &core, const LaneSource &source, uint64_t byte, std::map<uint32_t, uint32_t> &seen) {
  uint32_t load = source.view ? 0 : definedOf(position, source.memory).loadOf(byte);
  if (!source.view && (load == 0 || isCopy(resolved.opcode) || unwritten[load - 1].computed))
    return load;
  auto [at, isNew] = seen.try_emplace(load, uint32_t(unwritten.size() + 1));
  if (isNew && source.view) {
    unwritten.push_back({now(), place(core, {AccessKind::Lane, true, {}, 0, 0}, byte)});
  } else if (isNew) {
    Unwritten from = unwritten[load - 1];
    from.computed = now();
    unwritten.push_back(std::move(from));
  }
  return at->second;
}

/// Finds the elements of the result that undefined elements affect.
void Checker::findUndefinedLanes(Core &core) {
  const LaneResult &result = list.result;
  std::map<uint32_t, uint32_t> seen;
  auto selects = selection(resolved, core);
  auto missingIn = [&](const LaneSource &source, uint64_t i, uint64_t j) -> std::optional<uint64_t> {
    uint64_t row = source.order == Order::Transposed ? j : source.order == Order::OfColumn ? 0 : i;
    uint64_t col = source.order == Order::Transposed ? i : source.order == Order::OfRow ? 0 : j;
    if (!source.view) {
      auto [begin, bytes] = bytesOf(*source.tile, source.rect.row + row, source.rect.col + col);
      uint64_t missing = definedOf(position, source.memory).firstUndefined(begin, bytes);
      return missing == begin + bytes ? std::nullopt : std::optional(missing);
    }
    GlobalView view = core.view(*source.view);
    auto begin = uint64_t(view.base + view.offset(int64_t(row), int64_t(col)) * view.bytes);
    return firstUndefined({AccessKind::Lane, true, {}, 0, 0}, {begin, view.bytes, 0, 1});
  };
  for (uint64_t i = 0; i < result.rect.rows; ++i)
    for (uint64_t j = 0; j < result.rect.cols; ++j)
      for (size_t lane = 0; lane < list.lanes.size(); ++lane)
        if (auto missing = selects(lane, i, j) ? missingIn(list.lanes[lane], i, j) : std::nullopt) {
          auto [begin, bytes] = bytesOf(*result.tile, result.rect.row + i, result.rect.col + j);
          undefinedLanes.push_back({begin, bytes, loadOfLane(core, list.lanes[lane], *missing, seen)});
          break;
        }
}

void Checker::markUndefinedLanes() {
  const LaneResult &result = list.result;
  for (auto [begin, bytes, load] : undefinedLanes)
    definedOf(result.peer ? firstCore + *result.peer : position, result.memory).setUnwritten(begin, bytes, load);
}

/// The first byte of the runs that the access must not read.
std::optional<uint64_t> Checker::firstUndefined(const Access &what, const ByteRuns &runs) {
  std::optional<uint64_t> missing;
  DefinedShadow *defined = nullptr;
  uint64_t origin = 0;
  if (what.global) {
    if (Block *block = blockOf(runs.begin))
      defined = &block->defined, origin = lastBlock->first;
  } else {
    defined = &definedOf(position, what.memory);
  }
  forRuns(runs, [&](uint64_t begin, uint64_t length) {
    if (missing)
      return;
    uint64_t first = !defined                        ? begin
                     : what.kind == AccessKind::Pick ? defined->firstLoaded(begin, length)
                                                     : defined->firstUndefined(begin - origin, length) + origin;
    if (first != begin + length)
      missing = first;
  });
  return missing;
}

/// Reports a read of a byte that nothing has written.
void Checker::undefined(Core &core, const Access &what, uint64_t byte) {
  std::string text = describe(now()) + " reads " + place(core, what, byte) + ", which nothing has written";
  auto brief = [&](const Event &event) {
    std::string command = describe(event);
    return command.substr(0, command.find_first_of(" )", command.find(" (") + 2)) + ")";
  };
  if (uint32_t load = what.global ? 0 : definedOf(position, what.memory).loadOf(byte)) {
    const Unwritten &from = unwritten[load - 1];
    text += "; " + brief(from.load) + " loaded it from " + from.place;
    if (from.computed)
      text += ", " + brief(*from.computed) + " computed with it";
  }
  core.fault(FaultKind::Uninitialised, std::move(text));
}

} // namespace pto_mlir::cmodel
