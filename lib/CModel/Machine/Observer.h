// The interface of the modes other than functional: callbacks while cores run. Without an observer a core executes a
// separate loop without callbacks, so functional mode has no overhead.
#ifndef PTO_MLIR_CMODEL_OBSERVER_H
#define PTO_MLIR_CMODEL_OBSERVER_H

#include "pto_mlir/Runtime/DeviceABI.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace pto_mlir::isa {
struct CorePlace;
}

namespace pto_mlir::cmodel {

using isa::CorePlace;

class Core;
struct LaunchState;
struct Op;
struct RankLaunch;

/// When a launch of several devices began and ended, in device seconds since the run began.
struct RankTime {
  double begin = 0, end = 0;
};

/// Who is told of a launch on one of several devices, before it begins and when it has ended.
using RankWatch = std::function<void(size_t launch, bool ended)>;

/// All calls come from one thread. The cores of a launch run one after the other, each from coreBegin to coreEnd. Those
/// of a kernel with cross-core flags run in groups: all begin, are interleaved, then all end.
class Observer {
public:
  virtual ~Observer() = default;

  // --- events of the host ---
  virtual void allocated(uint64_t, uint64_t) {}
  virtual void released(uint64_t) {}
  virtual void copiedToDevice(uint64_t, uint64_t) {}
  /// An error message if the host must not read these bytes; empty otherwise.
  virtual std::string copiesFromDevice(uint64_t, uint64_t) { return ""; }
  /// may_overlap of DeviceABI.h.
  virtual void nextLaunch(uint32_t, std::span<const uint32_t>) {}
  virtual void launchBegin(const LaunchState &) {}
  /// May add the cost of the launch to `cost`.
  virtual void launchEnd(const LaunchState &, pto_profile &) {}
  // --- events of a run of several devices (RankGroup), whose launches have no launchBegin and launchEnd ---
  /// An error message if the mode cannot observe such a run; empty otherwise.
  virtual std::string ranksBegin(std::span<const RankLaunch>) { return "this mode runs programs of one device only"; }
  /// What follows is of this launch, by index: first that its group begins.
  virtual void rankTurn(size_t) {}
  /// The launch has ended without a fault.
  virtual void rankLaunchEnd(size_t) {}
  /// `costs`: of each launch, to which the mode may add; empty after a fault.
  virtual void ranksEnd(std::span<pto_profile>) {}
  /// When each launch of the last such run began and ended, in device seconds; empty if the mode does not measure it.
  virtual std::span<const RankTime> rankTimes() const { return {}; }
  /// Busy time of each core of the last launch in device seconds; empty if the mode does not measure it.
  virtual std::span<const double> coreSeconds() const { return {}; }

  // --- events of a core; all may call core.fault() ---
  /// The cores that run together until the next call, usually one.
  virtual void groupBegin(const std::vector<CorePlace> &) {}
  virtual void coreBegin(Core &) {}
  /// `op` is about to be executed by core.engine(), whose registers hold its operands. Called again on a retry after
  /// blocking.
  virtual void before(Core &, const Op &) {}
  /// `op` has been executed: it neither faulted nor blocked.
  virtual void after(Core &, const Op &) {}
  /// Whether the mode itself detects a flag that is set twice. If so, the setting engine blocks until the flag is
  /// lowered instead of faulting.
  virtual bool judgesFlags() const { return false; }
  /// Whether to switch to another engine.
  virtual bool pause(Core &) { return false; }
  /// All streams have ended without a fault.
  virtual void coreEnd(Core &) {}
};

} // namespace pto_mlir::cmodel

#endif
