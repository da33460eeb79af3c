#include "SketchCore.h"

#include <algorithm>

namespace pto_mlir::cost {

unsigned SketchCore::engineOf(isa::Pipe pipe) {
  for (unsigned i = 0; i < engines.size(); ++i)
    if (engines[i].log.pipe == pipe)
      return i;
  engines.emplace_back(chip, pipe);
  return unsigned(engines.size() - 1);
}

void SketchCore::note(const isa::DecodedInsn &insn, isa::Pipe pipe, std::span<const SketchAccess> accesses) {
  unsigned engine = engineOf(pipe);
  order(engine, accesses);
  Engine &e = engines[engine];
  if (Event *event = e.recorder.note(insn, 0); event && event->path != GlobalPath::Local)
    noteRuns(insn, *event, byteRuns);
  remember(engine, accesses);
}

void SketchCore::cross(isa::Pipe pipe, Event::Kind kindOf, uint32_t channel) {
  Event event;
  event.kind = kindOf, event.channel = channel, event.work = 1;
  engines[engineOf(pipe)].log.events.push_back(event);
}

void SketchCore::flag(isa::Pipe pipe, Event::Kind event, isa::Pipe src, isa::Pipe dst, unsigned id) {
  constexpr uint32_t kFlags = 1 << 16; // behind the channels of waits that follow from accesses
  cross(pipe, event, kFlags | (uint32_t(src) & 15) << 12 | (uint32_t(dst) & 15) << 8 | (id & 255));
}

void SketchCore::crossAwait(std::span<const unsigned> pipes, uint32_t id) {
  isa::Pipe waits = pipes.size() == 1 ? isa::Pipe(pipes[0]) : isa::Pipe::S;
  cross(waits, Event::CrossAwait, id);
  unsigned first = engineOf(waits);
  for (unsigned pipe : pipes)
    if (unsigned engine = engineOf(isa::Pipe(pipe)); engine != first)
      await(engine, first, engines[first].log.events.size());
}

void SketchCore::order(unsigned engine, std::span<const SketchAccess> accesses) {
  Clock last{};
  for (const SketchAccess &access : accesses)
    for (const Touch &touch : touched[access.space])
      if (touch.engine != engine && (touch.write || access.write) && touch.begin < access.end &&
          access.begin < touch.end)
        last[touch.engine] = std::max(last[touch.engine], touch.events);
  // Engines in descending order: a wait that an earlier one implies is omitted.
  for (unsigned other = unsigned(engines.size()); other-- > 0;)
    if (last[other] > engines[engine].clock[other])
      await(engine, other, last[other]);
}

void SketchCore::await(unsigned engine, unsigned other, size_t events) {
  Engine &waits = engines[engine], &raises = engines[other];
  uint32_t channel = other << 8 | engine;
  raises.signals.push_back({events, channel});
  Event event;
  event.kind = Event::Await, event.channel = channel, event.work = 1;
  waits.log.events.push_back(event);
  waits.clock[other] = events;
  // The wait implies all that the awaited engine had itself waited for.
  auto known = std::upper_bound(raises.clocks.begin(), raises.clocks.end(), events,
                                [](size_t n, const auto &entry) { return n < entry.first; });
  if (known != raises.clocks.begin())
    for (unsigned i = 0; i < kMost; ++i)
      if (i != engine)
        waits.clock[i] = std::max(waits.clock[i], std::prev(known)->second[i]);
  waits.clocks.push_back({waits.log.events.size(), waits.clock});
}

void SketchCore::remember(unsigned engine, std::span<const SketchAccess> accesses) {
  size_t events = engines[engine].log.events.size();
  for (const SketchAccess &access : accesses) {
    std::vector<Touch> &touches = touched[access.space];
    // A covering access has waited for these touches, so a later one only needs to wait for it.
    std::erase_if(touches, [&](const Touch &touch) {
      bool covered = access.begin <= touch.begin && touch.end <= access.end;
      return covered && (access.write || (touch.engine == engine && !touch.write));
    });
    touches.push_back({access.begin, access.end, access.write, engine, events});
  }
}

CoreLog SketchCore::finish() const {
  CoreLog core{kind, block, subblock, {}};
  for (const Engine &engine : engines) {
    EngineLog log{engine.log.pipe, {}};
    auto signals = engine.signals;
    std::sort(signals.begin(), signals.end());
    auto next = signals.begin();
    for (size_t i = 0; i <= engine.log.events.size(); ++i) {
      for (; next != signals.end() && next->first == i; ++next) {
        Event event;
        event.kind = Event::Signal, event.channel = next->second, event.work = 1;
        log.events.push_back(event);
      }
      if (i < engine.log.events.size())
        log.events.push_back(engine.log.events[i]);
    }
    core.engines.push_back(std::move(log));
  }
  return core;
}

} // namespace pto_mlir::cost
