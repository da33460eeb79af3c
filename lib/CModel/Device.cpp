#include "Device.h"

#include <chrono>
#include <cstring>

namespace pto_mlir::cmodel {

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

pto_status Device::launch(uint32_t id, uint32_t blocks, std::span<const pto_arg> args, std::span<const int64_t> scalars) {
  if (id >= kernels.size() || !kernels[id])
    return error(PTO_ERROR_INVALID, "no kernel number " + std::to_string(id));
  Kernel &kernel = *kernels[id];
  if (blocks == 0 || blocks > 65535)
    return error(PTO_ERROR_INVALID, "kernel '" + kernel.name + "': cannot launch " + std::to_string(blocks) + " blocks");
  if (args.size() != kernel.numArgs)
    return error(PTO_ERROR_INVALID, "kernel '" + kernel.name + "' takes " + std::to_string(kernel.numArgs) + " arguments, got " +
                                        std::to_string(args.size()));
  for (size_t i = 0; i < args.size(); ++i)
    if (!memory.contains(args[i].address, args[i].bytes))
      return error(PTO_ERROR_INVALID, "kernel '" + kernel.name + "': argument " + std::to_string(i) + " does not lie in device memory");
  if (faulted)
    return PTO_OK;

  using Clock = std::chrono::steady_clock;
  auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  auto begin = Clock::now();
  LaunchState state{&kernel, blocks, args, scalars};
  bool cube = kernel.uses(isa::CoreKind::AIC);
  uint32_t coresPerBlock = cube + 2 * kernel.uses(isa::CoreKind::AIV);
  // Cores in ascending order: block by block, the cube core first. The fault of the lowest one is reported, so that it does not depend
  // on threads; cores behind a fault need not run.
  std::mutex mutex;
  std::optional<Fault> first;
  std::atomic<uint32_t> limit{UINT32_MAX};
  Counters total;
  double coreSeconds = 0;
  cores.resize(pool.size());
  auto task = [&](unsigned worker, uint32_t index) {
    if (index >= limit.load(std::memory_order_relaxed))
      return;
    if (!cores[worker])
      cores[worker] = std::make_unique<Core>(arch, observer.get());
    Core &core = *cores[worker];
    core.counters = {};
    auto coreBegin = Clock::now();
    uint32_t place = index % coresPerBlock;
    bool aic = cube && place == 0;
    auto result = core.run(state, aic ? isa::CoreKind::AIC : isa::CoreKind::AIV, index / coresPerBlock, aic ? 0 : place - cube);
    std::lock_guard lock(mutex);
    coreSeconds += seconds(Clock::now() - coreBegin);
    total.instructions += core.counters.instructions;
    total.bytesRead += core.counters.bytesRead;
    total.bytesWritten += core.counters.bytesWritten;
    if (result && index < limit) {
      limit = index;
      first = std::move(result);
    }
  };
  uint32_t count = coresPerBlock * blocks;
  // What is over before another thread is awake stays on this one.
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
  double wall = seconds(Clock::now() - begin);
  for (pto_profile *p : {&profile, &kernel.profile}) {
    ++p->launches;
    p->instructions += total.instructions;
    p->gm_bytes_read += total.bytesRead;
    p->gm_bytes_written += total.bytesWritten;
    p->host_seconds += wall;
    p->cycles += cost.cycles;
    p->seconds += cost.seconds;
    for (unsigned e = 0; e < PTO_NUM_ENGINES; ++e) {
      p->engine_busy[e] += cost.engine_busy[e];
      p->engine_stalled[e] += cost.engine_stalled[e];
    }
  }
  if (first)
    report(kernel, *first);
  return PTO_OK;
}

template <size_t N> static void copyText(char (&to)[N], const std::string &text) {
  size_t n = std::min(N - 1, text.size());
  std::memcpy(to, text.data(), n);
  std::memset(to + n, 0, N - n);
}

void Device::report(const Kernel &kernel, const Fault &f) {
  faulted = true;
  copyText(fault.kind, faultKindName(f.kind));
  copyText(fault.kernel, kernel.name);
  copyText(fault.engine, f.engine);
  copyText(fault.message, f.message);
  fault.block = f.block;
  fault.word = f.word;
}

pto_status Device::kernelProfile(uint32_t id, pto_profile &out, bool reset) {
  if (id >= kernels.size() || !kernels[id])
    return error(PTO_ERROR_INVALID, "no kernel number " + std::to_string(id));
  out = kernels[id]->profile;
  if (reset)
    kernels[id]->profile = {};
  return PTO_OK;
}

pto_status Device::synchronize() {
  if (!faulted)
    return PTO_OK;
  faulted = false;
  return error(PTO_ERROR_FAULT, std::string(fault.kind) + " in kernel '" + fault.kernel + "', " + fault.engine + ", word " +
                                    std::to_string(fault.word) + ": " + fault.message);
}

} // namespace pto_mlir::cmodel
