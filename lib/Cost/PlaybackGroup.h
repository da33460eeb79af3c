// How the engines of one group of cores go through their events.
#ifndef PTO_MLIR_LIB_COST_PLAYBACKGROUP_H
#define PTO_MLIR_LIB_COST_PLAYBACKGROUP_H

#include "pto_mlir/Cost/Playback.h"
#include "pto_mlir/ISA/CrossFlags.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>

namespace pto_mlir::cost {

using isa::CorePlace;
using isa::CrossFlags;

inline bool reads(GlobalPath path) { return path == GlobalPath::ToUB || path == GlobalPath::ToL1; }

struct EngineTime {
  /// When it can take the next instruction; when all it took has its results; cycles.
  double now = 0, done = 0, busy = 0, stalled = 0;
  double reading = 0, writing = 0; // global memory
  double lastEnd = -1e30;
};

struct Rates {
  double secondsPerByte[6] = {}; // by GlobalPath
};

/// With so much traffic of HBM, and so many cores that read and write at a time.
Rates ratesFor(const ChipInfo &chip, HbmTraffic hbm, double readers, double writers);
/// What `play` settles on.
Rates settledRates(const ChipInfo &chip, std::span<const CoreLog> cores, Tied tied, HbmTraffic hbm, double begin);

/// When the notes of signal cells were made, by cell and number.
class CellTimes {
public:
  void note(uint32_t cell, uint32_t number, double time) {
    std::vector<std::optional<double>> &notes = cells[cell];
    notes.resize(std::max<size_t>(notes.size(), number + 1));
    notes[number] = time;
  }
  /// When the first `count` notes were there; nothing while one is missing.
  std::optional<double> ready(uint32_t cell, uint32_t count) const {
    auto found = cells.find(cell);
    double last = 0;
    for (uint32_t i = 0; i < count; ++i) {
      if (found == cells.end() || i >= found->second.size() || !found->second[i])
        return std::nullopt;
      last = std::max(last, *found->second[i]);
    }
    return last;
  }

private:
  std::unordered_map<uint32_t, std::vector<std::optional<double>>> cells;
};

/// The engines of cores that run together.
class Group {
public:
  /// Without `signals` no wait for a cell takes time.
  Group(const ChipInfo &chip, std::span<const CoreLog> cores, size_t firstCore, const Rates &rates, double begin,
        const Span &span, CellTimes *signals = nullptr)
      : chip(chip), rates(rates), span(span), firstCore(firstCore), signals(signals) {
    std::vector<CorePlace> places;
    for (size_t core = 0; core < cores.size(); ++core) {
      places.push_back({cores[core].kind, cores[core].block, cores[core].subblock});
      for (size_t e = 0; e < cores[core].engines.size(); ++e)
        engines.push_back({&cores[core].engines[e], core, e});
    }
    times.assign(engines.size(), EngineTime{begin, begin});
    crossFlags.reset(places);
  }

  /// Times engine by engine, core by core.
  std::vector<EngineTime> run() {
    advance();
    return std::move(times);
  }

  /// As far as all engines come; whether that is anywhere.
  bool advance() {
    bool any = false;
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t e = 0; e < engines.size(); ++e)
        moved |= advance(engines[e], times[e]);
      any |= moved;
    }
    return any;
  }

  bool hasEnded() const {
    return std::all_of(engines.begin(), engines.end(),
                       [](const Playing &engine) { return engine.at == engine.log->events.size(); });
  }

private:
  struct Playing {
    const EngineLog *log;
    size_t core, engine, at = 0;
  };

  static void await(EngineTime &t, double token, double work) {
    t.stalled += std::max(0.0, token - t.now);
    t.now = std::max(t.now, token) + work;
  }

  /// As far as it comes; whether that is anywhere.
  bool advance(Playing &engine, EngineTime &t) {
    const std::vector<Event> &events = engine.log->events;
    bool moved = false;
    for (; engine.at < events.size(); ++engine.at, moved = true) {
      const Event &event = events[engine.at];
      if (event.kind == Event::CellAwait && !awaitCell(event, t))
        return moved;
      if (event.kind == Event::Work || event.kind == Event::CellNotify || event.kind == Event::CellAwait)
        work(engine, event, t);
      else if (!signal(engine, event, t))
        return moved;
    }
    return moved;
  }

  /// False where a note is missing.
  bool awaitCell(const Event &event, EngineTime &t) {
    std::optional<double> ready = signals ? signals->ready(event.channel, event.note) : 0;
    if (ready && *ready > 0)
      await(t, *ready + chip.crossSeconds * chip.clock, 0);
    return ready.has_value();
  }

  /// False where it must wait.
  bool signal(Playing &engine, const Event &event, EngineTime &t) {
    if (event.kind == Event::CrossAwait) {
      std::optional<double> token = crossFlags.take(engine.core, event.channel);
      if (token)
        await(t, *token + chip.crossSeconds * chip.clock, event.work);
      return token.has_value();
    }
    if (event.kind == Event::CrossRaise) {
      t.now += event.work;
      crossFlags.raise(
          engine.core, isa::CrossMode(event.channel >> 8), event.channel & 255, std::max(t.now, t.done),
          [](double &into, double other) { into = std::max(into, other); }, [](size_t, unsigned) {});
      return true;
    }
    auto &tokens = channels[uint64_t(engine.core) << 32 | event.channel];
    if (event.kind == Event::Signal) {
      t.now += event.work;
      tokens.push_back(std::max(t.now, t.done));
      return true;
    }
    if (tokens.empty())
      return false;
    await(t, tokens.front(), event.work);
    tokens.pop_front();
    return true;
  }

  void work(Playing &engine, const Event &event, EngineTime &t) {
    double start = t.now;
    if (event.depends)
      start = std::max(start, t.done);
    double idle = start - t.lastEnd;
    double duration = event.work + (event.depends || idle > 2 ? event.head : 0);
    if (event.path != GlobalPath::Local) {
      auto path = unsigned(event.path);
      double moving = (double(event.bytes) * rates.secondsPerByte[path] + chip.pathStartSeconds[path]) * chip.clock;
      duration += moving;
      (reads(event.path) ? t.reading : t.writing) += moving;
    }
    t.busy += duration + (start - t.now);
    t.now = t.lastEnd = start + duration;
    t.done = t.now + event.tail;
    if (event.kind == Event::CellNotify && signals)
      signals->note(event.channel, event.note, std::max(t.now, t.done));
    if (span)
      span(firstCore + engine.core, engine.engine, event, start, duration);
  }

  const ChipInfo &chip;
  Rates rates;
  const Span &span;
  size_t firstCore;
  CellTimes *signals;
  std::vector<Playing> engines;
  std::vector<EngineTime> times;
  std::unordered_map<uint64_t, std::deque<double>> channels; // by core and channel
  CrossFlags<double> crossFlags;
};

/// Adds what a group of cores that began at `start` did, and returns when it ended.
double gather(const ChipInfo &chip, std::span<const CoreLog> cores, const std::vector<EngineTime> &times, double start,
              Playback &result);
/// Divides what engines did by the number of cores of their kind that are there at a time.
void averageOverCores(const ChipInfo &chip, std::span<const CoreLog> cores, Playback &result);

} // namespace pto_mlir::cost

#endif
