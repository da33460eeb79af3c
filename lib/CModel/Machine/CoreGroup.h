// Cores that run together because they exchange flags or tiles: interleaved on one thread, each until it blocks.
#ifndef PTO_MLIR_CMODEL_COREGROUP_H
#define PTO_MLIR_CMODEL_COREGROUP_H

#include "Machine/Core.h"

namespace pto_mlir::cmodel {

/// Runs a group of cores to completion; reusable for many launches.
class CoreGroup {
public:
  explicit CoreGroup(isa::Arch arch, Observer *observer = nullptr) : arch(arch), observer(observer) {}

  /// Runs all cores of blocks [first, first + blocks) of the launch to their end and returns the fault, if any.
  std::optional<Fault> run(const LaunchState &launch, uint32_t first, uint32_t blocks);

  Counters counters; // of the last run

private:
  std::optional<Fault> deadlock(size_t count);
  std::optional<Fault> leftover(size_t count);

  isa::Arch arch;
  Observer *observer;
  std::vector<std::unique_ptr<Core>> cores;
  CrossFlags<NoToken> flags;
};

} // namespace pto_mlir::cmodel

#endif
