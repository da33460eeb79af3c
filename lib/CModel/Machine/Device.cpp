#include "Machine/Device.h"

#include "Machine/RankGroup.h"
#include "pto_mlir/Support/Ranks.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace pto_mlir::cmodel {

namespace {

using Clock = std::chrono::steady_clock;
double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

template <size_t N> void copyText(char (&to)[N], const std::string &text) {
  size_t n = std::min(N - 1, text.size());
  std::memcpy(to, text.data(), n);
  std::memset(to + n, 0, N - n);
}

void describe(const Kernel &kernel, const Fault &f, pto_fault &fault) {
  copyText(fault.kind, faultKindName(f.kind));
  copyText(fault.kernel, kernel.name);
  copyText(fault.engine, f.engine);
  copyText(fault.message, f.message);
  fault.block = f.block;
  fault.word = f.word;
}

} // namespace

pto_status Device::loadKernel(const pto_kernel_desc &desc, uint32_t &id) {
  auto kernel = std::make_unique<Kernel>();
  if (std::string message = buildKernel(desc, arch, *kernel); !message.empty())
    return error(PTO_ERROR_BAD_KERNEL, std::move(message));
  for (id = 0; id < kernels.size(); ++id)
    if (!kernels[id]) {
      kernels[id] = std::move(kernel);
      return PTO_OK;
    }
  kernels.push_back(std::move(kernel));
  return PTO_OK;
}

pto_status Device::unloadKernel(uint32_t id) {
  if (id >= kernels.size() || !kernels[id])
    return error(PTO_ERROR_INVALID, "no kernel number " + std::to_string(id));
  kernels[id].reset();
  return PTO_OK;
}

std::string Device::checkLaunch(uint32_t id, uint32_t blocks, std::span<const pto_arg> args) const {
  if (id >= kernels.size() || !kernels[id])
    return "no kernel number " + std::to_string(id);
  const Kernel &kernel = *kernels[id];
  if (blocks == 0 || blocks > 65535)
    return "kernel '" + kernel.name + "': cannot launch " + std::to_string(blocks) + " blocks";
  if (args.size() != kernel.numArgs)
    return "kernel '" + kernel.name + "' takes " + std::to_string(kernel.numArgs) + " arguments, got " +
           std::to_string(args.size());
  for (size_t i = 0; i < args.size(); ++i)
    if (!memory.contains(args[i].address, args[i].bytes))
      return "kernel '" + kernel.name + "': argument " + std::to_string(i) + " does not lie in device memory";
  return "";
}

// Cores are indexed block by block, the cube core first.
std::optional<Fault> Device::runOn(Worker &worker, const LaunchState &state, uint32_t index, Counters &counters) {
  if (state.kernel->together != Together::None) {
    if (!worker.group)
      worker.group = std::make_unique<CoreGroup>(arch, observer.get());
    bool all = state.kernel->together == Together::Launch;
    auto fault = worker.group->run(state, all ? 0 : index, all ? state.blocks : 1);
    counters = worker.group->counters;
    return fault;
  }
  if (!worker.core)
    worker.core = std::make_unique<Core>(arch, observer.get());
  bool cube = state.kernel->uses(isa::CoreKind::AIC);
  uint32_t perBlock = state.kernel->coresPerBlock(), place = index % perBlock;
  bool aic = cube && place == 0;
  auto fault = worker.core->run(
      state, {aic ? isa::CoreKind::AIC : isa::CoreKind::AIV, index / perBlock, aic ? 0 : place - cube});
  counters = worker.core->takeCounters();
  return fault;
}

void Device::count(Kernel &kernel, const Counters &counters, const pto_profile &cost) {
  for (pto_profile *p : {&profile, &kernel.profile}) {
    p->launches += cost.launches;
    p->instructions += counters.instructions;
    p->gm_bytes_read += counters.bytesRead;
    p->gm_bytes_written += counters.bytesWritten;
    p->host_seconds += cost.host_seconds;
    p->cycles += cost.cycles;
    p->seconds += cost.seconds;
    for (unsigned e = 0; e < PTO_NUM_ENGINES; ++e) {
      p->engine_busy[e] += cost.engine_busy[e];
      p->engine_stalled[e] += cost.engine_stalled[e];
    }
  }
}

pto_status Device::launch(uint32_t id, uint32_t blocks, std::span<const pto_arg> args,
                          std::span<const int64_t> scalars) {
  if (std::string wrong = checkLaunch(id, blocks, args); !wrong.empty())
    return error(PTO_ERROR_INVALID, std::move(wrong));
  if (faulted)
    return PTO_OK;

  Kernel &kernel = *kernels[id];
  auto begin = Clock::now();
  LaunchState state{&kernel, blocks, args, scalars};
  // The fault of the lowest core is reported, independent of thread scheduling; cores after a faulted one are skipped.
  std::mutex mutex;
  std::optional<Fault> first;
  std::atomic<uint32_t> limit{UINT32_MAX};
  Counters total;
  double coreSeconds = 0;
  workers.resize(pool.size());
  auto task = [&](unsigned worker, uint32_t index) {
    if (index >= limit.load(std::memory_order_relaxed))
      return;
    auto coreBegin = Clock::now();
    Counters counters;
    auto result = runOn(workers[worker], state, index, counters);
    std::lock_guard lock(mutex);
    coreSeconds += seconds(Clock::now() - coreBegin);
    total += counters;
    if (result && index < limit) {
      limit = index;
      first = std::move(result);
    }
  };
  uint32_t count = kernel.together == Together::Launch  ? 1
                   : kernel.together == Together::Block ? blocks
                                                        : kernel.coresPerBlock() * blocks;
  // A kernel shorter than the wake-up time of a thread runs on this one.
  constexpr double shortest = 15e-6;
  bool brief = kernel.lastCoreSeconds >= 0 && kernel.lastCoreSeconds < shortest;
  if (observer)
    observer->launchBegin(state);
  if (count == 1 || kernel.ordered || brief || observer)
    for (uint32_t i = 0; i < count; ++i)
      task(0, i);
  else
    pool.run(count, task);
  pto_profile cost{};
  if (observer)
    observer->launchEnd(state, cost);

  kernel.lastCoreSeconds = coreSeconds;
  cost.launches = 1;
  cost.host_seconds = seconds(Clock::now() - begin);
  this->count(kernel, total, cost);
  if (first) {
    faulted = true;
    describe(kernel, *first, fault);
  }
  return PTO_OK;
}

pto_status Device::runCore(uint32_t id, uint32_t blocks, uint32_t core, std::span<const pto_arg> args,
                           std::span<const int64_t> scalars, pto_fault &out) {
  std::string wrong = observer ? "this mode runs whole launches only" : checkLaunch(id, blocks, args);
  if (wrong.empty() && core >= kernels[id]->coresPerBlock() * blocks)
    wrong = "kernel '" + kernels[id]->name + "' has no core " + std::to_string(core);
  if (!wrong.empty()) {
    out = {};
    copyText(out.kind, "invalid");
    copyText(out.message, wrong);
    return PTO_ERROR_INVALID;
  }
  Kernel &kernel = *kernels[id];
  // The first core of a group runs the whole group.
  uint32_t together = kernel.together == Together::None
                          ? 1
                          : kernel.coresPerBlock() * (kernel.together == Together::Launch ? blocks : 1);
  if (core % together != 0)
    return PTO_OK;
  Worker mine;
  {
    std::lock_guard lock(mutex);
    // Prefer the worker this thread used last: its memory is in the cache.
    auto found = std::find_if(freeWorkers.begin(), freeWorkers.end(),
                              [](auto &c) { return c.first == std::this_thread::get_id(); });
    if (found != freeWorkers.end()) {
      mine = std::move(found->second);
      freeWorkers.erase(found);
    }
  }
  auto begin = Clock::now();
  Counters counters;
  std::optional<Fault> result = runOn(mine, LaunchState{&kernel, blocks, args, scalars}, core / together, counters);
  pto_profile cost{};
  cost.launches = core == 0;
  cost.host_seconds = seconds(Clock::now() - begin);
  {
    std::lock_guard lock(mutex);
    count(kernel, counters, cost);
    freeWorkers.emplace_back(std::this_thread::get_id(), std::move(mine));
  }
  if (!result)
    return PTO_OK;
  describe(kernel, *result, out);
  return PTO_ERROR_FAULT;
}

std::string Device::checkRanks(std::span<const pto_rank_launch> launches) const {
  for (size_t i = 0; i < launches.size(); ++i) {
    const pto_rank_launch &launch = launches[i];
    if (launch.rank >= kMostRanks)
      return "rank " + std::to_string(launch.rank) + " of at most " + std::to_string(kMostRanks);
    if (std::string wrong = checkLaunch(launch.kernel, launch.blocks, {launch.args, launch.num_args}); !wrong.empty())
      return wrong;
    for (size_t k = 0; k < launch.num_after; ++k)
      if (launch.after[k] >= i)
        return "launch " + std::to_string(i) + " comes after one that is not earlier";
  }
  return "";
}

pto_status Device::runRanks(std::span<const pto_rank_launch> launches, pto_fault &out) {
  out = {};
  if (std::string wrong = checkRanks(launches); !wrong.empty()) {
    copyText(out.kind, "invalid");
    copyText(out.message, wrong);
    return PTO_ERROR_INVALID;
  }
  std::vector<RankLaunch> list;
  list.reserve(launches.size());
  for (const pto_rank_launch &launch : launches)
    list.push_back({launch.rank,
                    {kernels[launch.kernel].get(),
                     launch.blocks,
                     {launch.args, launch.num_args},
                     {launch.scalars, launch.num_scalars}},
                    {launch.after, launch.num_after}});
  if (std::string wrong = observer ? observer->ranksBegin(list) : ""; !wrong.empty()) {
    copyText(out.kind, "invalid");
    copyText(out.message, wrong);
    return PTO_ERROR_INVALID;
  }
  auto begin = Clock::now();
  RankWatch watch;
  if (rankWatch)
    watch = [this](size_t launch, bool ended) {
      isWatched = true;
      rankWatch(launch, ended);
      isWatched = false;
    };
  RankGroup group(arch, list, observer.get(), std::move(watch));
  std::optional<Fault> result = group.run();
  std::vector<pto_profile> costs(list.size());
  if (observer)
    observer->ranksEnd(result ? std::span<pto_profile>() : costs);
  for (size_t i = 0; i < list.size(); ++i) {
    costs[i].launches = 1;
    costs[i].host_seconds = seconds(Clock::now() - begin) / double(list.size());
    count(*kernels[launches[i].kernel], group.counters[i], costs[i]);
  }
  if (!result)
    return PTO_OK;
  describe(*list[group.faulted].state.kernel, *result, out);
  return PTO_ERROR_FAULT;
}

pto_status Device::kernelProfile(uint32_t id, pto_profile &out, bool reset) {
  if (id >= kernels.size() || !kernels[id])
    return error(PTO_ERROR_INVALID, "no kernel number " + std::to_string(id));
  out = kernels[id]->profile;
  if (reset)
    kernels[id]->profile = {};
  return PTO_OK;
}

pto_status Device::coreSeconds(std::span<double> out) {
  std::span<const double> measured = observer ? observer->coreSeconds() : std::span<const double>();
  if (measured.empty())
    return error(PTO_ERROR_INVALID, "no launch was measured: only the timing mode measures");
  if (measured.size() != out.size())
    return error(PTO_ERROR_INVALID, "the last launch ran " + std::to_string(measured.size()) + " cores, not " +
                                        std::to_string(out.size()));
  std::copy(measured.begin(), measured.end(), out.begin());
  return PTO_OK;
}

pto_status Device::rankSeconds(std::span<double> begins, std::span<double> ends) {
  std::span<const RankTime> times = observer ? observer->rankTimes() : std::span<const RankTime>();
  if (times.size() != ends.size())
    return error(PTO_ERROR_INVALID, "the last run of several devices measured " + std::to_string(times.size()) +
                                        " launches, not " + std::to_string(ends.size()));
  for (size_t i = 0; i < times.size(); ++i)
    begins[i] = times[i].begin, ends[i] = times[i].end;
  return PTO_OK;
}

pto_status Device::synchronize() {
  if (!faulted)
    return PTO_OK;
  faulted = false;
  return error(PTO_ERROR_FAULT, std::string(fault.kind) + " in kernel '" + fault.kernel + "', " + fault.engine +
                                    ", word " + std::to_string(fault.word) + ": " + fault.message);
}

} // namespace pto_mlir::cmodel
