// A device context of the simulator; Levels/Api.cpp exposes it through the C functions of Runtime/DeviceABI.h.
#ifndef PTO_MLIR_CMODEL_DEVICE_H
#define PTO_MLIR_CMODEL_DEVICE_H

#include "Machine/CoreGroup.h"
#include "Machine/Observer.h"
#include "Machine/Program.h"
#include "Machine/ThreadPool.h"
#include "Memory/GlobalMemory.h"

#include <mutex>
#include <optional>

namespace pto_mlir::cmodel {

/// Kernels, memory and counters of one device. Functions return a pto_status and set `lastError`.
class Device {
public:
  /// With an observer, the cores of a launch run one after the other on the calling thread.
  Device(isa::Arch arch, unsigned threads, std::unique_ptr<Observer> observer = nullptr)
      : observer(std::move(observer)), arch(arch), pool(this->observer ? 1 : threads) {}

  /// Verifies and decodes a kernel; `id` becomes its number. Numbers of unloaded kernels are reused.
  pto_status loadKernel(const pto_kernel_desc &desc, uint32_t &id);
  pto_status unloadKernel(uint32_t id);
  /// Runs a launch to its end, synchronously. After a fault, further launches are dropped until synchronize() reports
  /// it.
  pto_status launch(uint32_t id, uint32_t blocks, std::span<const pto_arg> args, std::span<const int64_t> scalars);
  /// Runs one core of a launch; see run_core in DeviceABI.h.
  pto_status runCore(uint32_t id, uint32_t blocks, uint32_t core, std::span<const pto_arg> args,
                     std::span<const int64_t> scalars, pto_fault &fault);
  /// Runs launches on several devices; see run_ranks in DeviceABI.h.
  pto_status runRanks(std::span<const pto_rank_launch> launches, pto_fault &fault);
  /// Reports the fault of an earlier launch, if any, and clears it.
  pto_status synchronize();
  /// Busy seconds of each core of the last launch; see core_seconds in DeviceABI.h.
  pto_status coreSeconds(std::span<double> out);
  /// Times of the launches of the last run on several devices; see rank_seconds in DeviceABI.h.
  pto_status rankSeconds(std::span<double> begins, std::span<double> ends);
  /// The accumulated cost of kernel `id` since the last reset.
  pto_status kernelProfile(uint32_t id, pto_profile &out, bool reset);

  /// Sets `lastError` and returns `status`.
  pto_status error(pto_status status, std::string message) {
    lastError = std::move(message);
    return status;
  }

  std::unique_ptr<Observer> observer; // null in functional mode
  RankWatch rankWatch;                // may be null; see watch_ranks in DeviceABI.h
  bool isWatched = false;             // while rankWatch looks, whose copies are not those of the program
  GlobalMemory memory;
  pto_profile profile{};
  pto_fault fault{};
  std::string lastError;

private:
  /// The error message of an invalid launch of several devices; empty if it is valid.
  std::string checkRanks(std::span<const pto_rank_launch> launches) const;
  /// The error message of an invalid launch; empty if it is valid.
  std::string checkLaunch(uint32_t id, uint32_t blocks, std::span<const pto_arg> args) const;
  /// The simulator state of one thread.
  struct Worker {
    std::unique_ptr<Core> core;
    std::unique_ptr<CoreGroup> group;
  };
  /// Runs core `index` of the launch or, for kernels with cross-core flags, group `index`.
  std::optional<Fault> runOn(Worker &worker, const LaunchState &state, uint32_t index, Counters &counters);
  void count(Kernel &kernel, const Counters &counters, const pto_profile &cost);

  isa::Arch arch;
  ThreadPool pool;
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<Worker> workers;
  std::mutex mutex; // guards what runCore shares: free workers and counters
  std::vector<std::pair<std::thread::id, Worker>> freeWorkers;
  bool faulted = false;
};

} // namespace pto_mlir::cmodel

#endif
