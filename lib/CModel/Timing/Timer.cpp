#include "Timing/Timer.h"

#include "pto_mlir/ISA/OperandList.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace pto_mlir::cmodel {

Timer::Timer(isa::Arch arch, std::unique_ptr<Trace> trace) : chip(isa::chipInfo(arch)), trace(std::move(trace)) {}

void Timer::launchBegin(const LaunchState &) {
  cores.clear();
  notes.clear();
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
  // Recorders write to the engines' logs, which stay where they are when their core's log moves.
  for (cost::EngineLog &engine : cores.back().engines)
    note.recorders.emplace_back(chip, engine);
  notes.push_back(std::move(note));
}

void Timer::before(Core &core, const Op &op) {
  if (isa::isPlainScalar(op.insn.opcode))
    return;
  resolved = op.insn;
  isa::resolveRegisters(resolved, core.engine().registers);
}

void Timer::after(Core &core, const Op &op) {
  CoreNotes &note = notes[firstOfGroup + core.position()];
  cost::Recorder &recorder = note.recorders[size_t(&core.engine() - core.allEngines().data())];
  bool plain = isa::isPlainScalar(op.insn.opcode);
  cost::Event *event = recorder.note(plain ? op.insn : resolved, core.engine().pc);
  if (event && event->path != GlobalPath::Local)
    noteRuns(core, note, *event);
}

void Timer::noteRuns(Core &core, CoreNotes &note, cost::Event &event) {
  event.firstRun = uint32_t(note.runs.size());
  list.clear();
  collectAccesses(resolved, core, list);
  for (const Access &access : list.accesses)
    if (access.global)
      note.runs.insert(note.runs.end(), list.runs.begin() + long(access.firstRun),
                       list.runs.begin() + long(access.endRun));
  event.endRun = uint32_t(note.runs.size());
}

// L2 keeps lines of 512 bytes and, when it is full, gives up any of them for a new one: how long a line stays, counted
// in lines that come, is distributed exponentially. Chance is a hash, so that every run says the same. The transfers of
// all engines are merged by the part of its bytes that each has moved: the cores of a launch do the same work side by
// side. Before the launch nothing is there.
double Timer::missedPart() const {
  struct Transfer {
    double at; // 0 to 1
    size_t order;
    const cost::Event *event;
    const std::vector<ByteRuns> *runs; // of its core
  };
  std::vector<Transfer> transfers;
  for (size_t c = 0; c < cores.size(); ++c)
    for (const cost::EngineLog &engine : cores[c].engines) {
      uint64_t total = 0, moved = 0;
      for (const cost::Event &event : engine.events)
        total += event.path != GlobalPath::Local ? event.bytes : 0;
      for (const cost::Event &event : engine.events)
        if (event.kind == cost::Event::Work && event.path != GlobalPath::Local) {
          transfers.push_back(
              {double(moved) / double(std::max<uint64_t>(total, 1)), transfers.size(), &event, &notes[c].runs});
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
      const ByteRuns &runs = (*transfer.runs)[r];
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
                duration / chip.clock * 1e6,
                "\"kernel\": " + jsonString(kernel.name) + ", \"word\": " + std::to_string(op.word));
  };
}

void Timer::launchEnd(const LaunchState &launch, pto_profile &profile) {
  static_assert(PTO_NUM_ENGINES == cost::kNumEngines);
  const Kernel &kernel = *launch.kernel;
  double begin = elapsed + chip.launchSeconds * chip.clock;
  cost::Tied tied = kernel.together == Together::Launch ? cost::Tied::Launch : cost::Tied::Block;
  cost::Playback result = cost::play(chip, cores, tied, missedPart(), begin, tracer(kernel));
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
