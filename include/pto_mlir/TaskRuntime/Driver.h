// What moves a task core: threads or simulated time.
#ifndef PTO_MLIR_TASKRUNTIME_DRIVER_H
#define PTO_MLIR_TASKRUNTIME_DRIVER_H

#include "pto_mlir/TaskRuntime/Config.h"

#include <functional>
#include <string>
#include <vector>

namespace pto_mlir::tasks {

/// Why a wait ended without what it waited for.
struct Stall {
  ErrorCode code = ErrorCode::None; ///< None: it did not
  std::string message;
};

/// One row of the handshake that every core gives when it starts.
struct HandshakeRecord {
  uint32_t core;
  WorkerKind kind;
  uint32_t aicpuReady, aicoreDone, control;
  uint32_t taskStatus; ///< 1 while a task is on the core
  uint64_t tasks;      ///< executed so far
};

class Driver {
public:
  virtual ~Driver() = default;
  /// ns since the run began.
  virtual uint64_t now() = 0;
  virtual void beginRun() = 0;
  /// Tasks may have become ready. Called by the orchestrator after a submission.
  virtual void kick() = 0;
  /// Waits, on the orchestrator's thread, until `done`.
  virtual Stall waitUntil(const std::function<bool()> &done) = 0;
  virtual std::vector<HandshakeRecord> handshake() = 0;
};

} // namespace pto_mlir::tasks

#endif
