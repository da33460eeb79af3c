#include "Checked/Signals.h"

#include "pto_mlir/ISA/Codec.h"

#include <algorithm>

namespace pto_mlir::cmodel {

using isa::NotifyMode;

namespace {

std::optional<int32_t> applied(std::optional<int32_t> held, NotifyMode mode, int32_t value) {
  if (mode == NotifyMode::set)
    return value;
  return held ? std::optional(int32_t(uint32_t(*held) + uint32_t(value))) : held;
}

} // namespace

void join(Clock &into, const Clock &other) {
  for (size_t e = 0; e < other.size(); ++e)
    into[e] = std::max(into[e], other[e]);
}

void Signals::notify(uint64_t address, NotifyMode mode, int32_t value, int32_t after, const Event &event,
                     const Clock &clock) {
  auto [found, isNew] = cells.try_emplace(address);
  if (isNew && mode == NotifyMode::add)
    found->second.first = int32_t(uint32_t(after) - uint32_t(value));
  found->second.notes.push_back({mode, value, event, clock});
}

std::optional<int32_t> Signals::without(const Cell &cell, const Note &missing) {
  std::optional<int32_t> held = cell.first;
  for (const Note &note : cell.notes)
    if (!note.isBehind(missing))
      held = applied(held, note.mode, note.value);
  return held;
}

void Signals::wait(uint64_t address, isa::CellCompare mode, int64_t wanted, Clock &clock) {
  auto found = cells.find(address);
  if (found == cells.end())
    return;
  Cell &cell = found->second;
  join(clock, cell.known);
  for (const Note &note : cell.notes) {
    if (clock[note.event.engine] >= note.event.time)
      continue;
    std::optional<int32_t> held = without(cell, note);
    if (!held || !isa::satisfies(mode, *held, wanted))
      join(clock, note.clock);
  }
  // What this engine knows of need not be asked for again.
  auto end = std::find_if(cell.notes.begin(), cell.notes.end(),
                          [&](const Note &note) { return clock[note.event.engine] < note.event.time; });
  for (auto note = cell.notes.begin(); note != end; ++note) {
    cell.first = applied(cell.first, note->mode, note->value);
    cell.known.resize(clock.size());
    join(cell.known, note->clock);
  }
  cell.notes.erase(cell.notes.begin(), end);
}

} // namespace pto_mlir::cmodel
