#include "pto_mlir/PModel/Estimate.h"

#include "StreamWalk.h"
#include "pto_mlir/Cost/GlobalMemory.h"

#include <algorithm>

namespace pto_mlir::pmodel {

namespace {

/// A stream of the kernel, decoded once.
struct Decoded {
  CoreKind kind;
  isa::Pipe pipe;
  std::vector<StreamOp> ops;
};

Result<std::vector<Decoded>> decodeStreams(const KernelDesc &kernel) {
  std::vector<Decoded> streams;
  for (const StreamDesc &stream : kernel.streams) {
    auto ops = decodeStream(stream);
    if (!ops)
      return ops.failure();
    // S first, since the other engines consume its queue values.
    auto place = isa::Pipe(stream.pipe) == isa::Pipe::S ? streams.begin() : streams.end();
    streams.insert(place, Decoded{stream.coreKind, isa::Pipe(stream.pipe), ops.take()});
  }
  return streams;
}

/// Records the events of one core.
Status walkCore(const std::vector<Decoded> &streams, const isa::ChipInfo &chip, const KernelDesc &kernel,
                const std::vector<int64_t> &scalars, uint64_t &steps, cost::CoreLog &core,
                std::vector<cost::ByteRuns> &runs) {
  StreamWalker::Queues queues;
  for (const Decoded &stream : streams) {
    if (isa::CoreKind(stream.kind) != core.kind)
      continue;
    cost::EngineLog log{stream.pipe, {}};
    cost::Recorder recorder(chip, log);
    StreamWalker walker(steps, queues);
    walker.pipe = stream.pipe;
    walker.scalars = scalars;
    walker.places[0] = core.block, walker.places[1] = kernel.blocks;
    walker.places[2] = core.subblock, walker.places[3] = isa::coresOf(isa::archInfo(chip.arch), core.kind);
    auto plain = [&](const isa::DecodedInsn &insn, uint32_t op) { recorder.note(insn, op); };
    auto command = [&](const isa::DecodedInsn &insn, uint32_t op) {
      if (cost::Event *event = recorder.note(insn, op); event && event->path != isa::GlobalPath::Local)
        cost::noteRuns(insn, *event, runs);
    };
    if (Status status = walker.run(stream.ops, command, plain); !status)
      return status;
    core.engines.push_back(std::move(log));
  }
  return {};
}

/// Whether the kernel synchronises cores across blocks.
bool tiesBlocks(const std::vector<Decoded> &streams) {
  for (const Decoded &stream : streams)
    for (const StreamOp &op : stream.ops)
      if (op.insn.opcode == isa::Opcode::CrossSet && op.insn.as<isa::CrossSet>().mode == isa::CrossMode::all)
        return true;
  return false;
}

} // namespace

Result<double> estimateCycles(const KernelDesc &kernel, const isa::ChipInfo &chip,
                              const std::vector<int64_t> &scalars) {
  auto streams = decodeStreams(kernel);
  if (!streams)
    return streams.failure();
  std::vector<cost::CoreLog> cores;
  std::vector<std::vector<cost::ByteRuns>> runs;
  uint64_t steps = 0;
  for (uint32_t block = 0; block < kernel.blocks; ++block)
    for (isa::CoreKind kind : {isa::CoreKind::AIC, isa::CoreKind::AIV})
      for (uint32_t subblock = 0; subblock < isa::coresOf(isa::archInfo(chip.arch), kind); ++subblock) {
        cost::CoreLog core{kind, block, subblock, {}};
        if (Status status = walkCore(*streams, chip, kernel, scalars, steps, core, runs.emplace_back()); !status)
          return status.failure();
        if (core.engines.empty())
          runs.pop_back();
        else
          cores.push_back(std::move(core));
      }
  cost::Tied tied = tiesBlocks(*streams) ? cost::Tied::Launch : cost::Tied::Block;
  return cost::play(chip, cores, tied, cost::hbmTraffic(chip, cores, runs), 0).end;
}

} // namespace pto_mlir::pmodel
