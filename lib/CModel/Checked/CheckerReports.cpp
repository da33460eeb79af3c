// What the checked mode says of a race.
#include "Checked/Checker.h"

namespace pto_mlir::cmodel {

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

} // namespace pto_mlir::cmodel
