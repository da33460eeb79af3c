// Task runtime settings shared by all users in this library.
#ifndef PTO_MLIR_LIB_RUNTIME_TASKSETTINGS_H
#define PTO_MLIR_LIB_RUNTIME_TASKSETTINGS_H

#include "pto_mlir/TaskRuntime/TaskRuntime.h"

#include <array>

namespace pto_mlir::runtime {

/// Tasks allocate nothing and use no scopes, since the program owns the buffers; so one ring suffices.
inline tasks::Config programConfig(std::array<uint32_t, 4> cores) {
  tasks::Config config;
  config.cores = cores;
  config.window = {1024, 16, 16, 16};
  config.heapBytes.fill(tasks::kOutputAlignment);
  return config;
}

/// The same on `threads` host threads (0 = all), including the submitter's.
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
