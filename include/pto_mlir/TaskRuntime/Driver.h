// The interface between a task core and its execution: threads or simulated time.
#ifndef PTO_MLIR_TASKRUNTIME_DRIVER_H
#define PTO_MLIR_TASKRUNTIME_DRIVER_H

#include "pto_mlir/TaskRuntime/Config.h"

#include <functional>
#include <string>
#include <vector>

namespace pto_mlir::tasks {

/// Why a wait ended before its condition held.
struct Stall {
  ErrorCode code = ErrorCode::None; ///< None: the condition holds
  std::string message;
};

/// The handshake registers of one core, written when the core starts.
struct HandshakeRecord {
  uint32_t core;
  WorkerKind kind;
  uint32_t aicpuReady, aicoreDone, control;
  uint32_t taskStatus; ///< 1 while a task is on the core
  uint64_t tasks;      ///< number executed so far
};

/// Executes the ready tasks of a TaskCore.
class Driver {
public:
  virtual ~Driver() = default;
  /// Time since the beginning of the run, in ns.
  virtual uint64_t now() = 0;
  /// Called at the beginning of a run, before its first submission.
  virtual void beginRun() = 0;
  /// Tasks may have become ready. Called by the orchestrator after a submission.
  virtual void kick() = 0;
  /// Blocks the orchestrator's thread until `done` returns true.
  virtual Stall waitUntil(const std::function<bool()> &done) = 0;
  virtual std::vector<HandshakeRecord> handshake() = 0;
};

} // namespace pto_mlir::tasks

#endif
