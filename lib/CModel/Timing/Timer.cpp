#include "Timing/Timer.h"

#include "pto_mlir/ISA/OperandList.h"

#include <nlohmann/json.hpp>

namespace pto_mlir::cmodel {

Timer::Timer(isa::Arch arch, std::unique_ptr<Trace> trace) : chip(isa::chipInfo(arch)), trace(std::move(trace)) {}

void Timer::launchBegin(const LaunchState &) {
  cores.clear();
  notes.clear();
  runs.clear();
  secondsOfCores.clear();
}

void Timer::groupBegin(const std::vector<CorePlace> &) { firstOfGroup = cores.size(); }

void Timer::coreBegin(Core &core) {
  cost::CoreLog log{core.coreKind(), core.block(), core.subblock(), {}};
  CoreNotes note;
  for (Engine &e : core.allEngines()) {
    log.engines.push_back({e.stream->pipe, {}});
    note.streams.push_back(e.stream);
  }
  cores.push_back(std::move(log));
  // Recorders hold references to the engine logs, whose addresses do not change when the core log moves.
  for (cost::EngineLog &engine : cores.back().engines)
    note.recorders.emplace_back(chip, engine);
  notes.push_back(std::move(note));
  runs.emplace_back();
}

void Timer::before(Core &core, const Op &op) {
  if (isa::isPlainScalar(op.insn.opcode))
    return;
  resolved = op.insn;
  isa::resolveRegisters(resolved, core.engine().registers);
}

void Timer::after(Core &core, const Op &op) {
  size_t number = firstOfGroup + core.position();
  cost::Recorder &recorder = notes[number].recorders[size_t(&core.engine() - core.allEngines().data())];
  bool plain = isa::isPlainScalar(op.insn.opcode);
  cost::Event *event = recorder.note(plain ? op.insn : resolved, core.engine().pc);
  if (event && event->path != GlobalPath::Local)
    noteRuns(core, runs[number], *event);
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

cost::Span Timer::tracer(const Kernel &kernel) {
  if (!trace)
    return {};
  return [this, &kernel](size_t core, size_t engine, const cost::Event &event, double begin, double duration) {
    const cost::CoreLog &log = cores[core];
    std::string name = log.kind == isa::CoreKind::AIC
                           ? "AIC" + std::to_string(log.block)
                           : "AIV" + std::to_string(log.block) + "." + std::to_string(log.subblock);
    const Stream &stream = *notes[core].streams[engine];
    const Op &op = stream.ops[event.op];
    trace->span(name, isa::pipeName(stream.pipe), isa::infoOf(op.insn.opcode).mnemonic, begin / chip.clock * 1e6,
                duration / chip.clock * 1e6, {{"kernel", kernel.name}, {"word", op.word}});
  };
}

void Timer::launchEnd(const LaunchState &launch, pto_profile &profile) {
  static_assert(PTO_NUM_ENGINES == cost::kNumEngines);
  const Kernel &kernel = *launch.kernel;
  double begin = elapsed + chip.launchSeconds * chip.clock;
  cost::Tied tied = kernel.together == Together::Launch ? cost::Tied::Launch : cost::Tied::Block;
  cost::Playback result = cost::play(chip, cores, tied, cost::hbmTraffic(chip, cores, runs), begin, tracer(kernel));
  secondsOfCores = std::move(result.coreSeconds);
  for (unsigned number = 0; number < PTO_NUM_ENGINES; ++number) {
    profile.engine_busy[number] += result.busy[number];
    profile.engine_stalled[number] += result.stalled[number];
  }
  if (trace)
    trace->span("device", "kernels", kernel.name, elapsed / chip.clock * 1e6, (result.end - elapsed) / chip.clock * 1e6,
                "\"blocks\": " + std::to_string(launch.blocks));
  profile.cycles = result.end - elapsed;
  profile.seconds = profile.cycles / chip.clock;
  elapsed = result.end;
}

} // namespace pto_mlir::cmodel
