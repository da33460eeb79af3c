// Devices that run together because they exchange signal cells: interleaved on one thread, each until it blocks.
#ifndef PTO_MLIR_CMODEL_RANKGROUP_H
#define PTO_MLIR_CMODEL_RANKGROUP_H

#include "Machine/CoreGroup.h"
#include "Machine/Observer.h"

namespace pto_mlir::cmodel {

/// A launch on one device of several.
struct RankLaunch {
  uint32_t rank = 0;
  LaunchState state;
  std::span<const uint32_t> after; ///< earlier launches that must have ended, by index
};

/// Runs the launches of several devices to their end: those of a device in order, the devices at the same time, as far
/// as a launch waits for others; else the launches have the order of the list. What devices do between two waits is not
/// divided, so two runs are the same.
class RankGroup {
public:
  /// `observer` and `watch` may be null.
  RankGroup(isa::Arch arch, std::span<const RankLaunch> launches, Observer *observer = nullptr, RankWatch watch = {});

  /// The fault, if any, of which `faulted` is the launch. A wait that no device can satisfy is a deadlock.
  std::optional<Fault> run();

  size_t faulted = 0;
  std::vector<Counters> counters; ///< by launch

private:
  struct Rank {
    uint32_t number = 0;
    std::vector<size_t> launches;
    size_t next = 0;
    bool isRunning = false;
    std::unique_ptr<CoreGroup> cores;

    bool hasEnded() const { return next == launches.size(); }
  };
  enum class Turn : uint8_t { Blocked, Moved, Faulted };

  /// Runs a device until it blocks or its launch has ended.
  Turn run(Rank &rank);
  bool mayBegin(size_t launch) const;
  Fault deadlock();
  std::string describe(Rank &rank) const;

  std::span<const RankLaunch> launches;
  Observer *observer;
  RankWatch watch;
  std::vector<Rank> ranks;
  std::vector<bool> ended; // by launch
  std::optional<Fault> pending;
};

} // namespace pto_mlir::cmodel

#endif
