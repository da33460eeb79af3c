// What every task runtime under a program has in common.
#ifndef PTO_MLIR_LIB_RUNTIME_TASKSETTINGS_H
#define PTO_MLIR_LIB_RUNTIME_TASKSETTINGS_H

#include "pto_mlir/TaskRuntime/TaskRuntime.h"

#include <array>

namespace pto_mlir::runtime {

/// For tasks that allocate nothing, outside scopes: buffers are the program's, and a ring is enough.
inline tasks::Config programConfig(std::array<uint32_t, 4> cores) {
  tasks::Config config;
  config.cores = cores;
  config.window = {1024, 16, 16, 16};
  config.heapBytes.fill(tasks::kOutputAlignment);
  return config;
}

/// The same on `threads` host threads (0 = all), of which the submitter is one.
inline tasks::Config threadedConfig(std::array<uint32_t, 4> cores, uint32_t threads) {
  tasks::Config config = programConfig(cores);
  config.workerThreads = threads;
  config.submitterWorks = true;
  // A simulated kernel cannot hang, but it may be slow.
  config.hangMs = 600000;
  return config;
}

} // namespace pto_mlir::runtime

#endif
