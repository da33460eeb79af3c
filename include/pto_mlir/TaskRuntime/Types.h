// Names and numbers that every part of the task runtime shares.
#ifndef PTO_MLIR_TASKRUNTIME_TYPES_H
#define PTO_MLIR_TASKRUNTIME_TYPES_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pto_mlir::tasks {

/// Which cores a task may run on; the numbers are part of the C API.
enum class WorkerKind : uint8_t { Cube = 0, Vector = 1, AiCpu = 2, Accelerator = 3 };
inline constexpr unsigned kNumWorkerKinds = 4;
std::string_view workerKindName(WorkerKind kind);

/// A task only moves forward through these.
enum class TaskState : uint8_t { Free, Pending, Ready, Running, Completed, Consumed };
std::string_view taskStateName(TaskState state);

/// Rings of task slots: ring = min(scope depth, kNumRings - 1), so an inner scope reclaims while an outer one holds.
inline constexpr unsigned kNumRings = 4;
inline constexpr unsigned kMaxOutputs = 16;
inline constexpr unsigned kMaxArguments = 48;
inline constexpr unsigned kMaxCoresPerKind = 256;
/// Outputs lie at multiples of this many bytes.
inline constexpr uint64_t kOutputAlignment = 64;

/// An absolute task number, never reused: the ring in the top 8 bits, below it the number within the ring, from 1. 0 is
/// no task.
struct TaskId {
  uint64_t value = 0;

  static constexpr unsigned kLocalBits = 56;
  static TaskId make(unsigned ring, uint64_t local) { return {uint64_t(ring) << kLocalBits | local}; }
  unsigned ring() const { return unsigned(value >> kLocalBits); }
  uint64_t local() const { return value & ((uint64_t(1) << kLocalBits) - 1); }
  explicit operator bool() const { return value != 0; }
  friend bool operator==(TaskId a, TaskId b) { return a.value == b.value; }
  friend bool operator<(TaskId a, TaskId b) { return a.value < b.value; }
};
/// "17", or "2:17" for a task of ring 2.
std::string toString(TaskId id);

/// What ended a run. The numbers are part of the C API.
enum class ErrorCode : int32_t {
  None = 0,
  ScopeDeadlock = 1,  ///< the tasks of an open scope fill the window
  HeapDeadlock = 2,   ///< outputs never fit, or are held by an open scope
  WindowDeadlock = 3, ///< the window stays full although no scope holds it
  DependencyPool = 4, ///< edges never fit, or are held by an open scope
  BadArguments = 5,
  GangTooWide = 7, ///< more blocks start together than cores exist
  TensorWait = 8,  ///< a host access waited for a task that does not end
  UserFatal = 9,
  ScopeMisuse = 10, ///< too deep, or ended without a begin
  TensorMapFull = 11,
  HungKernel = 100, ///< a kernel runs for longer than the limit
  NoProgress = 101, ///< nothing runs, and what is ready is not started
  ReadyQueueFull = 104,
  KernelFailed = 200,
  NotUsable = 201, ///< an earlier run left a kernel that never returned
};

} // namespace pto_mlir::tasks

#endif
