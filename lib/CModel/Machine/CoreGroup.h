// Cores that run together because they exchange flags or tiles: interleaved on one thread, each until it blocks.
#ifndef PTO_MLIR_CMODEL_COREGROUP_H
#define PTO_MLIR_CMODEL_COREGROUP_H

#include "Machine/Core.h"

namespace pto_mlir::cmodel {

/// The cores that run blocks [first, first + blocks) of a launch.
std::vector<CorePlace> placesOf(isa::Arch arch, const LaunchState &launch, uint32_t first, uint32_t blocks);

/// Runs a group of cores to completion; reusable for many launches.
class CoreGroup {
public:
  explicit CoreGroup(isa::Arch arch, Observer *observer = nullptr) : arch(arch), observer(observer) {}

  /// Runs all cores of blocks [first, first + blocks) of the launch to their end and returns the fault, if any.
  std::optional<Fault> run(const LaunchState &launch, uint32_t first, uint32_t blocks);

  // --- the phases of run, for devices that run together (RankGroup) ---
  void begin(const LaunchState &launch, uint32_t first, uint32_t blocks);
  /// Runs each core until it blocks or ends. Stuck: none executed an instruction. A fault ends it (`takeFault`).
  Core::Progress advance();
  std::optional<Fault> takeFault() { return std::exchange(pending, std::nullopt); }
  /// Called when all cores have ended.
  std::optional<Fault> end();
  /// What the blocked engines wait for; empty where there are none.
  std::string describeWaits();
  /// A fault of the first blocked core.
  Fault faultOfBlocked(std::string message);

  Counters counters; // of the last run

private:
  std::optional<Fault> leftover();

  isa::Arch arch;
  Observer *observer;
  std::vector<std::unique_ptr<Core>> cores;
  size_t count = 0; // of the cores that run
  std::optional<Fault> pending;
  CrossFlags<NoToken> flags;
};

} // namespace pto_mlir::cmodel

#endif
