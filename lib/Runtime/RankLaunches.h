// Launches on several devices that run at once.
#ifndef PTO_MLIR_LIB_RUNTIME_RANKLAUNCHES_H
#define PTO_MLIR_LIB_RUNTIME_RANKLAUNCHES_H

#include "pto_mlir/PModel/KernelUse.h"
#include "pto_mlir/Runtime/Device.h"
#include "pto_mlir/TaskRuntime/Trace.h"

#include <span>
#include <string>
#include <vector>

namespace pto_mlir::runtime {

struct RankLaunch {
  uint32_t rank = 0, kernel = 0, blocks = 1; ///< the kernel's number on the device
  std::vector<pto_arg> arguments;
  std::vector<int64_t> scalars;
  std::string kernelName, tensors; ///< tensors that it computes, for traces; empty: the kernel's name
  bool isCube = false;             ///< whether the kernel has commands for cube cores
};

/// Each device runs its launches in order, and waits for those of other devices that access the same memory. Accesses
/// of one window order nothing: signals between the devices do.
class RankLaunches {
public:
  explicit RankLaunches(Device &device) : device(&device) {}

  /// Adds a launch behind all others. `isWindow`: by argument.
  void add(RankLaunch launch, const pmodel::KernelUse &use, const std::vector<bool> &isWindow);
  /// Whether a launch writes this memory, or reads it where the host would write it (`isWrite`).
  bool touch(const pto_arg &memory, bool isWrite) const;
  bool empty() const { return launches.empty(); }
  /// Runs all of them to their end; `watch`, unless null, is told of each.
  Status run(const LaunchWatch &watch);
  void clear();

  void clearTrace() { traced = {}; }
  /// What ran on which device when, in all runs since `clearTrace`; null where the device does not measure it.
  const tasks::Trace *trace() const { return traced.end ? &traced : nullptr; }

private:
  struct Access {
    uint64_t begin, end;
    bool isWritten, isWindow;
    bool conflicts(const Access &other) const {
      return (isWritten || other.isWritten) && begin < other.end && other.begin < end;
    }
  };
  Status runWatched(std::span<const pto_rank_launch> list, const LaunchWatch &watch);
  void addTrace(const std::vector<std::pair<double, double>> &seconds);

  Device *device;
  std::vector<RankLaunch> launches;
  std::vector<std::vector<Access>> accesses; // of each launch
  std::vector<std::vector<uint32_t>> after;  // launches of other devices that come first
  tasks::Trace traced;
};

} // namespace pto_mlir::runtime

#endif
