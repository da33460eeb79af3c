#include "Timing/Timer.h"

#include "pto_mlir/ISA/OperandList.h"

#include "Machine/RankGroup.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

namespace pto_mlir::cmodel {

static cost::Tied tiedOf(const Kernel &kernel) {
  return kernel.together == Together::Launch ? cost::Tied::Launch : cost::Tied::Block;
}

Timer::Timer(isa::Arch arch, std::unique_ptr<Trace> trace) : chip(isa::chipInfo(arch)), trace(std::move(trace)) {}

void Timer::launchBegin(const LaunchState &) {
  alone = {};
  log = &alone;
  secondsOfCores.clear();
}

void Timer::groupBegin(const std::vector<CorePlace> &) { log->firstOfGroup = log->cores.size(); }

void Timer::coreBegin(Core &core) {
  cost::CoreLog mine{core.coreKind(), core.block(), core.subblock(), {}};
  CoreNotes note;
  for (Engine &e : core.allEngines()) {
    mine.engines.push_back({e.stream->pipe, {}});
    note.streams.push_back(e.stream);
  }
  log->cores.push_back(std::move(mine));
  // Recorders hold references to the engine logs, whose addresses do not change when the core log moves.
  for (cost::EngineLog &engine : log->cores.back().engines)
    note.recorders.emplace_back(chip, engine);
  log->notes.push_back(std::move(note));
  log->runs.emplace_back();
}

void Timer::before(Core &core, const Op &op) {
  if (isa::isPlainScalar(op.insn.opcode))
    return;
  resolved = op.insn;
  isa::resolveRegisters(resolved, core.engine().registers);
}

void Timer::after(Core &core, const Op &op) {
  size_t number = log->firstOfGroup + core.position();
  cost::Recorder &recorder = log->notes[number].recorders[size_t(&core.engine() - core.allEngines().data())];
  bool plain = isa::isPlainScalar(op.insn.opcode);
  cost::Event *event = recorder.note(plain ? op.insn : resolved, core.engine().pc);
  if (event && event->path != GlobalPath::Local)
    noteRuns(core, log->runs[number], *event);
  if (event && !ranked.empty())
    noteCell(core, *event);
}

Timer::Cell &Timer::cellAt(const uint8_t *address) {
  return cells.try_emplace(address, Cell{uint32_t(cells.size()), {}}).first->second;
}

void Timer::noteCell(Core &core, cost::Event &event) {
  if (resolved.opcode == isa::Opcode::Notify) {
    const uint8_t *address = core.view(resolved.as<isa::Notify>().dst).base;
    Cell &cell = cellAt(address);
    event.kind = cost::Event::CellNotify;
    event.channel = cell.number;
    event.note = uint32_t(cell.values.size());
    std::memcpy(&cell.values.emplace_back(), address, sizeof(int32_t));
  } else if (resolved.opcode == isa::Opcode::WaitCell) {
    const auto &wait = resolved.as<isa::WaitCell>();
    const Cell &cell = cellAt(core.view(wait.src).base);
    auto fails = [&](int32_t held) { return !isa::satisfies(wait.mode, held, wait.value.value); };
    // The last note of those by which the cell came to satisfy it.
    auto last = std::find_if(cell.values.rbegin(), cell.values.rend(), fails);
    event.kind = cost::Event::CellAwait;
    event.channel = cell.number;
    event.note = uint32_t(std::min(cell.values.size(), size_t(cell.values.rend() - last) + 1));
  }
}

void Timer::noteRuns(Core &core, std::vector<ByteRuns> &into, cost::Event &event) {
  event.firstRun = uint32_t(into.size());
  list.clear();
  collectAccesses(resolved, core, list);
  for (const Access &access : list.accesses)
    if (access.global)
      into.insert(into.end(), list.runs.begin() + long(access.firstRun), list.runs.begin() + long(access.endRun));
  event.endRun = uint32_t(into.size());
}

cost::Span Timer::tracer(const Kernel &kernel, const LaunchLog &of, const std::string &who) {
  if (!trace)
    return {};
  return [this, &kernel, &of, who](size_t core, size_t engine, const cost::Event &event, double begin,
                                   double duration) {
    const cost::CoreLog &ran = of.cores[core];
    std::string name = ran.kind == isa::CoreKind::AIC
                           ? "AIC" + std::to_string(ran.block)
                           : "AIV" + std::to_string(ran.block) + "." + std::to_string(ran.subblock);
    const Stream &stream = *of.notes[core].streams[engine];
    const Op &op = stream.ops[event.op];
    trace->span(who + name, isa::pipeName(stream.pipe), isa::infoOf(op.insn.opcode).mnemonic, begin / chip.clock * 1e6,
                duration / chip.clock * 1e6, {{"kernel", kernel.name}, {"word", op.word}});
  };
}

void Timer::launchEnd(const LaunchState &launch, pto_profile &profile) {
  const Kernel &kernel = *launch.kernel;
  double begin = elapsed + chip.launchSeconds * chip.clock;
  cost::Playback result = cost::play(chip, log->cores, tiedOf(kernel), cost::hbmTraffic(chip, log->cores, log->runs),
                                     begin, tracer(kernel, *log));
  finish(launch, result, elapsed, "", profile);
  secondsOfCores = std::move(result.coreSeconds);
  elapsed = result.end;
}

void Timer::finish(const LaunchState &launch, const cost::Playback &result, double begin, const std::string &who,
                   pto_profile &profile) {
  static_assert(PTO_NUM_ENGINES == cost::kNumEngines);
  for (unsigned number = 0; number < PTO_NUM_ENGINES; ++number) {
    profile.engine_busy[number] += result.busy[number];
    profile.engine_stalled[number] += result.stalled[number];
  }
  if (trace)
    trace->span(who + "device", "kernels", launch.kernel->name, begin / chip.clock * 1e6,
                (result.end - begin) / chip.clock * 1e6, {{"blocks", launch.blocks}});
  profile.cycles = result.end - begin;
  profile.seconds = profile.cycles / chip.clock;
}

//===- runs of several devices ----------------------------------------------------------------===//

std::string Timer::ranksBegin(std::span<const RankLaunch> launches) {
  ranked = launches;
  logs = std::vector<LaunchLog>(launches.size());
  cells.clear();
  timesOfRanks.clear();
  return "";
}

void Timer::ranksEnd(std::span<pto_profile> costs) {
  std::vector<cost::RankLog> played;
  played.reserve(costs.size());
  for (size_t i = 0; i < costs.size(); ++i)
    played.push_back({ranked[i].rank, logs[i].cores, tiedOf(*ranked[i].state.kernel),
                      cost::hbmTraffic(chip, logs[i].cores, logs[i].runs), ranked[i].after});
  auto nameOf = [&](size_t launch) { return "rank " + std::to_string(ranked[launch].rank) + " "; };
  auto results = cost::playRanks(chip, played, elapsed, [&](size_t launch) {
    return tracer(*ranked[launch].state.kernel, logs[launch], nameOf(launch));
  });
  double last = elapsed;
  for (size_t i = 0; i < results.size(); ++i) {
    const cost::RankPlayback &result = results[i];
    finish(ranked[i].state, result.work, result.begin, nameOf(i), costs[i]);
    timesOfRanks.push_back({(result.begin - elapsed) / chip.clock, (result.work.end - elapsed) / chip.clock});
    last = std::max(last, result.work.end);
  }
  elapsed = last;
  ranked = {};
  logs.clear();
}

} // namespace pto_mlir::cmodel
