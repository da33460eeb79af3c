// Programs of several devices: their launches as one run of the device.
#include "VM.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace pto_mlir::runtime {

using namespace pto_mlir::pmodel;

namespace {

struct Range {
  uint64_t begin = 0, end = 0;
  bool isWritten = false;

  bool conflicts(const Range &other) const {
    return (isWritten || other.isWritten) && begin < other.end && other.begin < end;
  }
};

bool conflict(const std::vector<Range> &a, const std::vector<Range> &b) {
  return std::any_of(a.begin(), a.end(), [&](const Range &x) {
    return std::any_of(b.begin(), b.end(), [&](const Range &y) { return x.conflicts(y); });
  });
}

} // namespace

void VM::orderRanks(const ModelDesc &model) {
  const DeviceBuffer *memory = workspace();
  uint64_t begin = memory ? memory->address() : 0, end = begin + windows;
  std::vector<std::vector<Range>> accesses;
  std::vector<uint32_t> ranks;
  for (Step &step : steps) {
    if (step.kind != Step::Launch)
      continue;
    KernelUse use = kernelUse(model.kernels[step.modelKernel]);
    step.kernelName = model.kernels[step.modelKernel].name;
    step.isCube = use.cube;
    std::vector<pto_arg> list = arguments(step);
    std::vector<Range> mine;
    for (size_t i = 0; i < list.size(); ++i) {
      bool isWindow = list[i].address >= begin && list[i].address < end;
      if (!isWindow && (use.arguments[i].read || use.arguments[i].written))
        mine.push_back({list[i].address, list[i].address + list[i].bytes, use.arguments[i].written});
    }
    // The last one of each other device is enough: a device runs its launches in order.
    std::vector<bool> isDone(kMostRanks);
    isDone[step.rank] = true;
    for (size_t other = ranks.size(); other-- > 0;)
      if (!isDone[ranks[other]] && conflict(mine, accesses[other])) {
        step.after.push_back(uint32_t(other));
        isDone[ranks[other]] = true;
      }
    accesses.push_back(std::move(mine));
    ranks.push_back(step.rank);
  }
}

Status VM::runWatched(std::span<const pto_rank_launch> launches) {
  Status copied;
  auto seen = [&](size_t launch, bool ended) {
    LaunchMemory memory;
    for (const pto_arg &part : std::span(launches[launch].args, launches[launch].num_args)) {
      memory.emplace_back(part.bytes);
      if (copied)
        copied = device->copyFromDevice(memory.back().data(), part.address, part.bytes);
    }
    if (copied)
      watch(launch, ended, memory);
  };
  if (Status status = device->watchRanks(seen); !status)
    return status;
  Status ran = device->runRanks(launches);
  if (Status status = device->watchRanks(nullptr); !status || !ran)
    return ran ? status : ran;
  return copied;
}

Status VM::runRanks() {
  std::vector<std::byte> zeros(std::min<uint64_t>(windows, uint64_t(1) << 20));
  for (uint64_t at = windowsKept && windowsHold ? windows : 0; at < windows; at += zeros.size())
    if (Status status = device->copyToDevice(workspace()->address() + at, zeros.data(),
                                             std::min<uint64_t>(windows - at, zeros.size()));
        !status)
      return status;
  std::vector<std::vector<pto_arg>> lists;
  lists.reserve(steps.size());
  std::vector<pto_rank_launch> launches;
  for (const Step &step : steps) {
    if (step.kind != Step::Launch)
      continue;
    const std::vector<pto_arg> &list = lists.emplace_back(arguments(step));
    launches.push_back({step.rank, step.kernel, step.blocks, list.data(), list.size(), step.scalars.data(),
                        step.scalars.size(), step.after.data(), step.after.size()});
  }
  ranksTraced = {};
  windowsHold = false;
  if (Status status = watch ? runWatched(launches) : device->runRanks(launches); !status)
    return status;
  windowsHold = true;
  auto seconds = device->rankSeconds(launches.size());
  if (!seconds)
    return seconds.failure();
  if (!seconds->empty())
    traceRanks(*seconds);
  return {};
}

/// A launch is a task of one block on a track of its device, behind the one before it and those that it waits for.
void VM::traceRanks(const std::vector<std::pair<double, double>> &seconds) {
  auto ns = [](double time) { return uint64_t(std::llround(time * 1e9)); };
  std::map<uint32_t, tasks::TaskId> last; // by device
  tasks::Trace &trace = ranksTraced;
  trace.isOfRanks = true;
  for (const Step &step : steps)
    for (unsigned kind = 0; kind < 2 && step.kind == Step::Launch; ++kind)
      trace.cores[kind] = std::max(trace.cores[kind], step.rank + 1);
  size_t number = 0;
  for (const Step &step : steps) {
    if (step.kind != Step::Launch)
      continue;
    tasks::TaskId id{number + 1};
    auto [begin, end] = std::pair(ns(seconds[number].first), ns(seconds[number].second));
    auto kind = step.isCube ? tasks::WorkerKind::Cube : tasks::WorkerKind::Vector;
    uint32_t core = step.rank + (step.isCube ? 0 : trace.cores[0]), nobody = tasks::BlockRecord::kNoCore;
    trace.blocks.push_back({id, step.tensors.empty() ? step.kernelName : step.tensors, step.kernelName, kind, core, 0,
                            1, nobody, 0, 0, begin, begin, begin, end, end, end, false, false});
    if (auto before = last.find(step.rank); before != last.end())
      trace.edges.push_back({before->second, id, 0});
    for (uint32_t other : step.after)
      trace.edges.push_back({{other + 1}, id, 0});
    last[step.rank] = id;
    trace.end = std::max(trace.end, end);
    ++number;
  }
}

} // namespace pto_mlir::runtime
