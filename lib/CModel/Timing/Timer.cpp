#include "Timing/Timer.h"

#include "pto_mlir/ISA/OperandList.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <tuple>

namespace pto_mlir::cmodel {
namespace {

constexpr uint32_t queueChannels = 4096; // behind those of flags

uint32_t flagChannel(isa::Pipe src, isa::Pipe dst, int64_t id) {
  return (uint32_t(src) & 15) << 8 | (uint32_t(dst) & 15) << 4 | uint32_t(id);
}

/// The engine's place in pto_profile::engine_busy.
unsigned engineNumber(isa::CoreKind kind, isa::Pipe pipe) {
  bool aic = kind == isa::CoreKind::AIC;
  switch (pipe) {
  case isa::Pipe::S:
    return aic ? 0 : 6;
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

} // namespace

Timer::Timer(isa::Arch arch, std::unique_ptr<Trace> trace) : chip(isa::chipInfo(arch)), trace(std::move(trace)) {}

void Timer::launchBegin(const LaunchState &) {
  cores.clear();
  secondsOfCores.clear();
}

void Timer::groupBegin(const std::vector<CorePlace> &) { firstOfGroup = cores.size(); }

void Timer::coreBegin(Core &core) {
  CoreLog log{{core.coreKind(), core.block(), core.subblock()}, {}, {}};
  for (Engine &e : core.allEngines())
    log.engines.push_back({e.stream, {}, {}});
  cores.push_back(std::move(log));
}

void Timer::before(Core &core, const Op &op) {
  if (isa::isPlainScalar(op.insn.opcode))
    return;
  resolved = op.insn;
  isa::resolveRegisters(resolved, core.engine().registers);
}

void Timer::after(Core &core, const Op &op) {
  CoreLog &log = cores[firstOfGroup + core.position()];
  EngineLog &engine = log.engines[size_t(&core.engine() - core.allEngines().data())];
  std::vector<Event> &events = engine.events;
  uint32_t index = core.engine().pc;
  if (isa::isPlainScalar(op.insn.opcode)) {
    // Engines take their scalar code from S, ahead of time; only there it costs a cycle each.
    if (core.engine().pipe != isa::Pipe::S)
      return;
    if (events.empty() || events.back().kind != Event::Work)
      events.push_back({Event::Work, GlobalPath::Local, false, false, index, 0, 0, 0, 0, 0, 0, 0});
    events.back().work += 1;
    return;
  }
  auto signal = [&](Event::Kind kind, uint32_t channel) {
    bool drains = kind == Event::Signal || kind == Event::CrossRaise;
    events.push_back({kind, GlobalPath::Local, false, drains, index, channel, 0, 1, 0, 0, 0, 0});
  };
  switch (op.insn.opcode) {
  case isa::Opcode::SetFlag: {
    const auto &set = resolved.as<isa::SetFlag>();
    return signal(Event::Signal, flagChannel(set.src, set.dst, set.id.value));
  }
  case isa::Opcode::WaitFlag: {
    const auto &wait = resolved.as<isa::WaitFlag>();
    return signal(Event::Await, flagChannel(wait.src, wait.dst, wait.id.value));
  }
  case isa::Opcode::CrossSet: {
    const auto &set = resolved.as<isa::CrossSet>();
    return signal(Event::CrossRaise, uint32_t(set.mode) << 8 | uint32_t(set.id.value));
  }
  case isa::Opcode::CrossWait:
    return signal(Event::CrossAwait, uint32_t(resolved.as<isa::CrossWait>().id.value));
  case isa::Opcode::Push:
    return signal(Event::Signal, queueChannels + (uint32_t(resolved.as<isa::Push>().engine) & 15));
  case isa::Opcode::Pop:
    return signal(Event::Await, queueChannels + (uint32_t(core.engine().pipe) & 15));
  default:
    break;
  }
  cost::InsnCost cost = cost::costOf(resolved, chip);
  bool depends = core.engine().pipe == isa::Pipe::V && dependsOnFresh(engine);
  events.push_back({Event::Work, cost.path, depends, false, index, 0, float(cost.head), float(cost.work),
                    float(cost.tail), cost.bytes, 0, 0});
  if (cost.path != GlobalPath::Local)
    noteRuns(core, log, events.back());
}

void Timer::noteRuns(Core &core, CoreLog &log, Event &event) {
  event.firstRun = uint32_t(log.runs.size());
  list.clear();
  collectAccesses(resolved, core, list);
  for (const Access &access : list.accesses)
    if (access.global)
      log.runs.insert(log.runs.end(), list.runs.begin() + long(access.firstRun),
                      list.runs.begin() + long(access.endRun));
  event.endRun = uint32_t(log.runs.size());
}

// L2 keeps lines of 512 bytes and, when it is full, gives up any of them for a new one: how long a line stays, counted
// in lines that come, is distributed exponentially. Chance is a hash, so that every run says the same. The transfers of
// all engines are merged by the part of its bytes that each has moved: the cores of a launch do the same work side by
// side. Before the launch nothing is there.
double Timer::missedPart() const {
  struct Transfer {
    double at; // 0 to 1
    size_t order;
    const Event *event;
    const CoreLog *core;
  };
  std::vector<Transfer> transfers;
  for (const CoreLog &core : cores)
    for (const EngineLog &engine : core.engines) {
      uint64_t total = 0, moved = 0;
      for (const Event &event : engine.events)
        total += event.path != GlobalPath::Local ? event.bytes : 0;
      for (const Event &event : engine.events)
        if (event.kind == Event::Work && event.path != GlobalPath::Local) {
          transfers.push_back({double(moved) / double(std::max<uint64_t>(total, 1)), transfers.size(), &event, &core});
          moved += event.bytes;
        }
    }
  std::sort(transfers.begin(), transfers.end(),
            [](const Transfer &a, const Transfer &b) { return std::tie(a.at, a.order) < std::tie(b.at, b.order); });

  auto capacity = uint64_t(chip.l2Bytes / 512);
  uint64_t came = 0, read = 0, missed = 0;
  // By 32 KiB: up to which count of lines that came each line stays. 0: it was never there.
  std::unordered_map<uint64_t, std::array<uint32_t, 64>> stays;
  for (const Transfer &transfer : transfers) {
    bool reads = transfer.event->path == GlobalPath::ToUB || transfer.event->path == GlobalPath::ToL1;
    uint64_t page = UINT64_MAX;
    std::array<uint32_t, 64> *lines = nullptr;
    for (uint32_t r = transfer.event->firstRun; r < transfer.event->endRun; ++r) {
      const ByteRuns &runs = transfer.core->runs[r];
      for (uint64_t i = 0; i < runs.count; ++i) {
        uint64_t begin = runs.begin + i * uint64_t(runs.pitch);
        for (uint64_t line = begin >> 9; line <= (begin + runs.length - 1) >> 9; ++line) {
          if (line >> 6 != page)
            page = line >> 6, lines = &stays.try_emplace(page).first->second;
          uint32_t &until = (*lines)[line & 63];
          read += reads;
          if (until > came)
            continue;
          missed += reads, ++came;
          uint64_t hash = (line ^ came << 24) * 0x9e3779b97f4a7c15;
          double chance = double((hash >> 11) + 1) * 0x1p-53;
          until = uint32_t(std::min(4e9, double(std::max(came, capacity)) + 1 - std::log(chance) * double(capacity)));
        }
      }
    }
  }
  return read ? double(missed) / double(read) : 0;
}

// A vector instruction may start behind the one before it unless it touches what that one has not written yet.
bool Timer::dependsOnFresh(EngineLog &log) {
  isa::OperandList o(resolved);
  auto extent = [](const isa::Tile &t) {
    auto begin = uint64_t(t.address.value);
    return std::pair(begin, begin + isa::tileExtent(t.layout, t.type, t.rows, t.cols, uint64_t(t.validRows.value),
                                                    uint64_t(t.validCols.value)));
  };
  bool depends = false;
  for (unsigned i = 0; i < o.numTiles; ++i) {
    auto [begin, end] = extent(*o.tiles[i]);
    for (auto [freshBegin, freshEnd] : log.fresh)
      depends |= begin < freshEnd && freshBegin < end;
  }
  if (depends)
    log.fresh.clear();
  for (unsigned i = 0; i < o.numTiles; ++i)
    if (o.isWritten(i))
      log.fresh.push_back(extent(*o.tiles[i]));
  return depends;
}

double Timer::replay(const CoreLog *group, size_t count, const Rates &rates, double begin,
                     std::vector<EngineTime> &times, const Kernel &kernel, Trace *trace) {
  struct Playing {
    const EngineLog *log;
    size_t core, at = 0;
  };
  std::vector<Playing> engines;
  std::vector<CorePlace> places;
  std::vector<std::string> names;
  for (size_t core = 0; core < count; ++core) {
    const CorePlace &place = group[core].place;
    places.push_back(place);
    names.push_back(!trace ? ""
                    : place.kind == isa::CoreKind::AIC
                        ? "AIC" + std::to_string(place.block)
                        : "AIV" + std::to_string(place.block) + "." + std::to_string(place.subblock));
    for (const EngineLog &log : group[core].engines)
      engines.push_back({&log, core});
  }
  times.assign(engines.size(), EngineTime{begin, begin});
  std::unordered_map<uint64_t, std::deque<double>> channels; // by core and channel
  CrossFlags<double> crossFlags;
  crossFlags.reset(places);
  auto await = [](EngineTime &t, double token, double work) {
    t.stalled += std::max(0.0, token - t.now);
    t.now = std::max(t.now, token) + work;
  };
  auto run = [&](Playing &engine, EngineTime &t) {
    const std::vector<Event> &events = engine.log->events;
    bool moved = false;
    for (; engine.at < events.size(); ++engine.at, moved = true) {
      const Event &event = events[engine.at];
      if (event.kind == Event::CrossAwait) {
        std::optional<double> token = crossFlags.take(engine.core, event.channel);
        if (!token)
          return moved;
        await(t, *token + chip.crossSeconds * chip.clock, event.work);
        continue;
      }
      if (event.kind == Event::CrossRaise) {
        t.now += event.work;
        crossFlags.raise(
            engine.core, isa::CrossMode(event.channel >> 8), event.channel & 255, std::max(t.now, t.done),
            [](double &into, double other) { into = std::max(into, other); }, [](size_t, unsigned) {});
        continue;
      }
      if (event.kind == Event::Await) {
        auto &tokens = channels[uint64_t(engine.core) << 32 | event.channel];
        if (tokens.empty())
          return moved;
        await(t, tokens.front(), event.work);
        tokens.pop_front();
        continue;
      }
      if (event.kind == Event::Signal) {
        t.now += event.work;
        channels[uint64_t(engine.core) << 32 | event.channel].push_back(std::max(t.now, t.done));
        continue;
      }
      double start = t.now;
      if (event.depends)
        start = std::max(start, t.done);
      double idle = start - t.lastEnd;
      double duration = event.work + (event.depends || idle > 2 ? event.head : 0);
      if (event.path != GlobalPath::Local) {
        auto path = unsigned(event.path);
        double moving = (double(event.bytes) * rates.secondsPerByte[path] + chip.pathStartSeconds[path]) * chip.clock;
        duration += moving;
        (event.path == GlobalPath::ToUB || event.path == GlobalPath::ToL1 ? t.reading : t.writing) += moving;
      }
      t.busy += duration + (start - t.now);
      t.now = t.lastEnd = start + duration;
      t.done = t.now + event.tail;
      if (trace) {
        const Stream &stream = *engine.log->stream;
        const Op &op = stream.ops[event.op];
        trace->span(names[engine.core], isa::pipeName(stream.pipe), isa::infoOf(op.insn.opcode).mnemonic,
                    start / chip.clock * 1e6, duration / chip.clock * 1e6,
                    "\"kernel\": " + jsonString(kernel.name) + ", \"word\": " + std::to_string(op.word));
      }
    }
    return moved;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t e = 0; e < engines.size(); ++e)
      moved |= run(engines[e], times[e]);
  }
  double end = begin;
  for (const EngineTime &t : times)
    end = std::max({end, t.now, t.done});
  return end;
}

Timer::Rates Timer::ratesFor(double cold, double readers, double writers) const {
  Rates rates;
  for (unsigned path = unsigned(GlobalPath::ToUB); path <= unsigned(GlobalPath::FromL0C); ++path) {
    bool reads = path <= unsigned(GlobalPath::ToL1);
    double own = 1 / chip.pathBytesPerSecond[path], sharing = reads ? readers : writers;
    double hot = std::max(own, sharing / chip.l2BytesPerSecond),
           outside = std::max(own, sharing / chip.hbmBytesPerSecond);
    rates.secondsPerByte[path] = reads ? (1 - cold) * hot + cold * outside : hot; // what is written goes to L2
  }
  return rates;
}

Timer::Replayed Timer::replayAll(const Kernel &kernel, const Rates &rates, double begin, Trace *trace) {
  Replayed result;
  result.end = begin;
  unsigned numCores[2] = {};
  // Blocks go to whatever part of the chip is free first.
  std::vector<double> freeAt(chip.blocks, begin);
  for (size_t i = 0; i < cores.size();) {
    auto place = std::min_element(freeAt.begin(), freeAt.end());
    double start = *place;
    // The cores of a block run together; with flags between blocks, all of them.
    size_t last = i;
    while (last < cores.size() &&
           (kernel.together == Together::Launch || cores[last].place.block == cores[i].place.block))
      ++last;
    std::vector<EngineTime> times;
    *place = replay(&cores[i], last - i, rates, start, times, kernel, trace);
    result.end = std::max(result.end, *place);
    for (auto time = times.begin(); i < last; ++i) {
      ++numCores[unsigned(cores[i].place.kind)];
      double coreEnd = start;
      for (const EngineLog &log : cores[i].engines) {
        unsigned number = engineNumber(cores[i].place.kind, log.stream->pipe);
        result.busy[number] += time->busy;
        result.stalled[number] += time->stalled;
        result.reading += time->reading;
        result.writing += time->writing;
        coreEnd = std::max({coreEnd, time->now, time->done});
        ++time;
      }
      result.coreSeconds.push_back((coreEnd - start) / chip.clock);
    }
  }
  for (unsigned number = 0; number < PTO_NUM_ENGINES; ++number) {
    unsigned n = std::min(numCores[number >= 6], chip.blocks * (number >= 6 ? 2 : 1)); // those that are there at a time
    result.busy[number] /= std::max(n, 1u);
    result.stalled[number] /= std::max(n, 1u);
  }
  return result;
}

void Timer::launchEnd(const LaunchState &launch, pto_profile &cost) {
  const Kernel &kernel = *launch.kernel;
  double cold = missedPart();
  double begin = elapsed + chip.launchSeconds * chip.clock;
  // How many cores move bytes at a time follows from how long that takes, and the other way round: a few rounds settle
  // it.
  double readers = 1, writers = 1;
  for (int round = 0; round < 3; ++round) {
    Replayed guess = replayAll(kernel, ratesFor(cold, readers, writers), begin, nullptr);
    double length = std::max(guess.end - begin, 1.0);
    readers = std::max(1.0, round ? (readers + guess.reading / length) / 2 : guess.reading / length);
    writers = std::max(1.0, round ? (writers + guess.writing / length) / 2 : guess.writing / length);
  }
  Replayed result = replayAll(kernel, ratesFor(cold, readers, writers), begin, trace.get());
  secondsOfCores = std::move(result.coreSeconds);
  for (unsigned number = 0; number < PTO_NUM_ENGINES; ++number) {
    cost.engine_busy[number] += result.busy[number];
    cost.engine_stalled[number] += result.stalled[number];
  }
  if (trace)
    trace->span("device", "kernels", kernel.name, elapsed / chip.clock * 1e6, (result.end - elapsed) / chip.clock * 1e6,
                "\"blocks\": " + std::to_string(launch.blocks));
  cost.cycles = result.end - elapsed;
  cost.seconds = cost.cycles / chip.clock;
  elapsed = result.end;
}

} // namespace pto_mlir::cmodel
