#include "pto_mlir/Cost/Playback.h"

#include "pto_mlir/ISA/CrossFlags.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>

namespace pto_mlir::cost {
namespace {

using isa::CorePlace;
using isa::CrossFlags;

bool reads(GlobalPath path) { return path == GlobalPath::ToUB || path == GlobalPath::ToL1; }

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
Rates ratesFor(const ChipInfo &chip, HbmTraffic hbm, double readers, double writers) {
  Rates rates;
  for (unsigned path = unsigned(GlobalPath::ToUB); path <= unsigned(GlobalPath::FromL0C); ++path) {
    bool read = reads(GlobalPath(path));
    rates.secondsPerByte[path] =
        secondsPerByte(chip, GlobalPath(path), read ? readers : writers, read ? hbm.perByteRead : hbm.perByteWritten);
  }
  return rates;
}

/// The engines of cores that run together.
class Group {
public:
  Group(const ChipInfo &chip, std::span<const CoreLog> cores, size_t firstCore, const Rates &rates, double begin,
        const Span &span)
      : chip(chip), rates(rates), span(span), firstCore(firstCore) {
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
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t e = 0; e < engines.size(); ++e)
        moved |= advance(engines[e], times[e]);
    }
    return std::move(times);
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
      if (event.kind == Event::Work)
        work(engine, event, t);
      else if (!signal(engine, event, t))
        return moved;
    }
    return moved;
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
    if (span)
      span(firstCore + engine.core, engine.engine, event, start, duration);
  }

  const ChipInfo &chip;
  const Rates &rates;
  const Span &span;
  size_t firstCore;
  std::vector<Playing> engines;
  std::vector<EngineTime> times;
  std::unordered_map<uint64_t, std::deque<double>> channels; // by core and channel
  CrossFlags<double> crossFlags;
};

/// Adds what a group of cores that began at `start` did, and returns when it ended.
double gather(const ChipInfo &chip, std::span<const CoreLog> cores, const std::vector<EngineTime> &times, double start,
              Playback &result) {
  double end = start;
  auto time = times.begin();
  for (const CoreLog &core : cores) {
    double coreEnd = start;
    for (const EngineLog &log : core.engines) {
      unsigned number = engineNumber(core.kind, log.pipe);
      result.busy[number] += time->busy;
      result.stalled[number] += time->stalled;
      result.reading += time->reading;
      result.writing += time->writing;
      coreEnd = std::max({coreEnd, time->now, time->done});
      ++time;
    }
    end = std::max(end, coreEnd);
    result.coreSeconds.push_back((coreEnd - start) / chip.clock);
  }
  return end;
}

Playback playAt(const ChipInfo &chip, std::span<const CoreLog> cores, Tied tied, const Rates &rates, double begin,
                const Span &span) {
  Playback result;
  result.end = begin;
  unsigned numCores[2] = {};
  for (const CoreLog &core : cores)
    ++numCores[unsigned(core.kind)];
  // Blocks go to whatever part of the chip is free first.
  std::vector<double> freeAt(chip.blocks, begin);
  for (size_t i = 0; i < cores.size();) {
    auto place = std::min_element(freeAt.begin(), freeAt.end());
    double start = *place;
    // The cores of a block run together; with flags between blocks, all of them.
    size_t last = i;
    while (last < cores.size() && (tied == Tied::Launch || cores[last].block == cores[i].block))
      ++last;
    auto group = cores.subspan(i, last - i);
    *place = gather(chip, group, Group(chip, group, i, rates, start, span).run(), start, result);
    result.end = std::max(result.end, *place);
    i = last;
  }
  for (unsigned number = 0; number < kNumEngines; ++number) {
    bool vector = number >= kFirstVectorEngine;
    unsigned n = std::min(numCores[vector], chip.blocks * (vector ? 2 : 1)); // those that are there at a time
    result.busy[number] /= std::max(n, 1u);
    result.stalled[number] /= std::max(n, 1u);
  }
  return result;
}

} // namespace

unsigned engineNumber(isa::CoreKind kind, isa::Pipe pipe) {
  bool aic = kind == isa::CoreKind::AIC;
  switch (pipe) {
  case isa::Pipe::S:
    return aic ? 0 : kFirstVectorEngine;
  case isa::Pipe::V:
    return 7;
  case isa::Pipe::MTE1:
    return 1;
  case isa::Pipe::MTE2:
    return aic ? 2 : 8;
  case isa::Pipe::MTE3:
    return aic ? 3 : 9;
  case isa::Pipe::M:
    return 4;
  default:
    return 5;
  }
}

Playback play(const ChipInfo &chip, std::span<const CoreLog> cores, Tied tied, HbmTraffic hbm, double begin,
              const Span &span) {
  double readers = 1, writers = 1;
  for (int round = 0; round < 3; ++round) {
    Playback guess = playAt(chip, cores, tied, ratesFor(chip, hbm, readers, writers), begin, {});
    double length = std::max(guess.end - begin, 1.0);
    readers = std::max(1.0, round ? (readers + guess.reading / length) / 2 : guess.reading / length);
    writers = std::max(1.0, round ? (writers + guess.writing / length) / 2 : guess.writing / length);
  }
  return playAt(chip, cores, tied, ratesFor(chip, hbm, readers, writers), begin, span);
}

} // namespace pto_mlir::cost
