#include "pto_mlir/PModel/Estimate.h"

#include "StreamWalk.h"
#include "pto_mlir/Cost/Playback.h"
#include "pto_mlir/ISA/OperandList.h"

#include <algorithm>
#include <map>

namespace pto_mlir::pmodel {

namespace {

/// What the cores of a launch move between themselves and global memory, argument by argument.
class GlobalBytes {
public:
  void note(const isa::DecodedInsn &insn) {
    isa::OperandList o(insn);
    if (!o.globalView || o.numTiles == 0)
      return;
    const isa::View &view = *o.globalView;
    if (o.info.operands[0].kind == isa::OperandKind::View) { // dst
      writes[view.arg] = true;
      return;
    }
    auto rows = o.dstTile().validRows.value, cols = o.dstTile().validCols.value;
    if (rows <= 0 || cols <= 0)
      return;
    int64_t span = 1; // elements from the first to the last
    for (unsigned d = 0; d < view.rank; ++d)
      span += std::max<int64_t>(view.sizes[d].value - 1, 0) * view.strides[d].value;
    int64_t bits = isa::elementBits(view.type);
    read += uint64_t(rows * cols * bits / 8);
    ranges[view.arg].push_back({view.offset.value, view.offset.value + span * bits / 8});
  }

  /// The part of what is read that comes from outside of L2: each byte once, unless the launch has written it.
  double cold() {
    uint64_t once = 0;
    for (auto &[argument, list] : ranges) {
      if (writes[argument])
        continue;
      std::sort(list.begin(), list.end());
      int64_t end = INT64_MIN;
      for (auto [first, last] : list) {
        once += uint64_t(std::max<int64_t>(0, last - std::max(first, end)));
        end = std::max(end, last);
      }
    }
    return read == 0 ? 0 : std::min(1.0, double(once) / double(read));
  }

private:
  uint64_t read = 0;
  std::map<unsigned, std::vector<std::pair<int64_t, int64_t>>> ranges; // by argument
  std::map<unsigned, bool> writes;
};

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
      return Failure{ops.error()};
    streams.push_back({stream.coreKind, isa::Pipe(stream.pipe), ops.take()});
  }
  // S comes first: its values travel to the other engines.
  std::stable_partition(streams.begin(), streams.end(), [](const Decoded &s) { return s.pipe == isa::Pipe::S; });
  return streams;
}

/// Notes what one core does.
Status walkCore(const std::vector<Decoded> &streams, const isa::ChipInfo &chip, const KernelDesc &kernel,
                uint64_t &steps, GlobalBytes &bytes, cost::CoreLog &core) {
  StreamWalker::Queues queues;
  for (const Decoded &stream : streams) {
    if (isa::CoreKind(stream.kind) != core.kind)
      continue;
    cost::EngineLog log{stream.pipe, {}};
    cost::Recorder recorder(chip, log);
    StreamWalker walker(steps, queues);
    walker.pipe = stream.pipe;
    walker.places[0] = core.block, walker.places[1] = kernel.blocks;
    walker.places[2] = core.subblock, walker.places[3] = core.kind == isa::CoreKind::AIC ? 1 : 2;
    auto plain = [&](const isa::DecodedInsn &insn, uint32_t op) { recorder.note(insn, op); };
    auto command = [&](const isa::DecodedInsn &insn, uint32_t op) {
      recorder.note(insn, op);
      bytes.note(insn);
    };
    if (Status status = walker.run(stream.ops, command, plain); !status)
      return status;
    core.engines.push_back(std::move(log));
  }
  return {};
}

/// Do the cores of all blocks wait for each other?
bool tiesBlocks(const std::vector<Decoded> &streams) {
  for (const Decoded &stream : streams)
    for (const StreamOp &op : stream.ops)
      if (op.insn.opcode == isa::Opcode::CrossSet && op.insn.as<isa::CrossSet>().mode == isa::CrossMode::all)
        return true;
  return false;
}

} // namespace

Result<double> estimateCycles(const KernelDesc &kernel, const isa::ChipInfo &chip) {
  auto streams = decodeStreams(kernel);
  if (!streams)
    return Failure{streams.error()};
  std::vector<cost::CoreLog> cores;
  GlobalBytes bytes;
  uint64_t steps = 0;
  for (uint32_t block = 0; block < kernel.blocks; ++block)
    for (auto [kind, subblocks] : {std::pair(isa::CoreKind::AIC, 1u), std::pair(isa::CoreKind::AIV, 2u)})
      for (uint32_t subblock = 0; subblock < subblocks; ++subblock) {
        cost::CoreLog core{kind, block, subblock, {}};
        if (Status status = walkCore(*streams, chip, kernel, steps, bytes, core); !status)
          return Failure{status.error()};
        if (!core.engines.empty())
          cores.push_back(std::move(core));
      }
  return cost::play(chip, cores, tiesBlocks(*streams) ? cost::Tied::Launch : cost::Tied::Block, bytes.cold(), 0).end;
}

} // namespace pto_mlir::pmodel
