#include "RankLaunches.h"

#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Ranks.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace pto_mlir::runtime {

void RankLaunches::add(RankLaunch launch, const pmodel::KernelUse &use, const std::vector<bool> &isWindow) {
  std::vector<Access> mine;
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const pto_arg &part = launch.arguments[i];
    if (use.arguments[i].read || use.arguments[i].written)
      mine.push_back({part.address, part.address + part.bytes, use.arguments[i].written, isWindow[i]});
  }
  // The last one of each other device is enough: a device runs its launches in order.
  std::vector<bool> isDone(kMostRanks);
  isDone[launch.rank] = true;
  std::vector<uint32_t> &before = after.emplace_back();
  auto conflict = [&](const Access &access) {
    return std::any_of(mine.begin(), mine.end(),
                       [&](const Access &own) { return own.conflicts(access) && !(own.isWindow && access.isWindow); });
  };
  for (size_t other = launches.size(); other-- > 0;)
    if (!isDone[launches[other].rank] && std::any_of(accesses[other].begin(), accesses[other].end(), conflict)) {
      before.push_back(uint32_t(other));
      isDone[launches[other].rank] = true;
    }
  accesses.push_back(std::move(mine));
  launches.push_back(std::move(launch));
}

bool RankLaunches::touch(const pto_arg &memory, bool isWrite) const {
  Access wanted{memory.address, memory.address + memory.bytes, isWrite, false};
  return std::any_of(accesses.begin(), accesses.end(), [&](const std::vector<Access> &list) {
    return std::any_of(list.begin(), list.end(), [&](const Access &access) { return access.conflicts(wanted); });
  });
}

void RankLaunches::clear() {
  launches.clear();
  accesses.clear();
  after.clear();
}

Status RankLaunches::runWatched(std::span<const pto_rank_launch> list, const LaunchWatch &watch) {
  Status copied;
  auto seen = [&](size_t launch, bool ended) {
    LaunchMemory memory;
    for (const pto_arg &part : std::span(list[launch].args, list[launch].num_args)) {
      memory.emplace_back(part.bytes);
      if (copied)
        copied = device->copyFromDevice(memory.back().data(), part.address, part.bytes);
    }
    if (copied)
      watch(launch, ended, memory);
  };
  if (Status status = device->watchRanks(seen); !status)
    return status;
  Status ran = device->runRanks(list);
  if (Status status = device->watchRanks(nullptr); !status || !ran)
    return ran ? status : ran;
  return copied;
}

Status RankLaunches::run(const LaunchWatch &watch) {
  std::vector<pto_rank_launch> list;
  list.reserve(launches.size());
  for (size_t i = 0; i < launches.size(); ++i) {
    const RankLaunch &launch = launches[i];
    list.push_back({launch.rank, launch.kernel, launch.blocks, launch.arguments.data(), launch.arguments.size(),
                    launch.scalars.data(), launch.scalars.size(), after[i].data(), after[i].size()});
  }
  if (Status status = watch ? runWatched(list, watch) : device->runRanks(list); !status)
    return status;
  auto seconds = device->rankSeconds(list.size());
  if (!seconds)
    return seconds.failure();
  if (!seconds->empty())
    addTrace(*seconds);
  return {};
}

/// A launch is a task of one block on a track of its device, behind the one before it and those that it waits for.
void RankLaunches::addTrace(const std::vector<std::pair<double, double>> &seconds) {
  uint64_t start = traced.end, first = traced.blocks.size();
  auto ns = [&](double time) { return start + uint64_t(std::llround(time * 1e9)); };
  std::map<uint32_t, tasks::TaskId> last; // by device
  traced.isOfRanks = true;
  uint32_t devices = traced.cores[0];
  for (const RankLaunch &launch : launches)
    devices = std::max(devices, launch.rank + 1);
  for (tasks::BlockRecord &block : traced.blocks) // of earlier runs: vector cores are behind the cube cores
    block.core += block.kind == tasks::WorkerKind::Vector ? devices - traced.cores[0] : 0;
  traced.cores[0] = traced.cores[1] = devices;
  for (size_t number = 0; number < launches.size(); ++number) {
    const RankLaunch &launch = launches[number];
    tasks::TaskId id{first + number + 1};
    uint64_t begin = ns(seconds[number].first), end = ns(seconds[number].second);
    auto kind = launch.isCube ? tasks::WorkerKind::Cube : tasks::WorkerKind::Vector;
    uint32_t core = launch.rank + (launch.isCube ? 0 : devices), nobody = tasks::BlockRecord::kNoCore;
    traced.blocks.push_back({id, launch.tensors.empty() ? launch.kernelName : launch.tensors, launch.kernelName, kind,
                             core, 0, 1, nobody, 0, 0, begin, begin, begin, end, end, end, false, false});
    if (auto before = last.find(launch.rank); before != last.end())
      traced.edges.push_back({before->second, id, 0});
    for (uint32_t other : after[number])
      traced.edges.push_back({{first + other + 1}, id, 0});
    last[launch.rank] = id;
    traced.end = std::max(traced.end, end);
  }
}

} // namespace pto_mlir::runtime
