// Common types and constants of the task runtime.
#ifndef PTO_MLIR_TASKRUNTIME_TYPES_H
#define PTO_MLIR_TASKRUNTIME_TYPES_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pto_mlir::tasks {

/// The kind of core that a task runs on; the numbers are part of the C API.
enum class WorkerKind : uint8_t { Cube = 0, Vector = 1, AiCpu = 2, Accelerator = 3 };
inline constexpr unsigned kNumWorkerKinds = 4;
std::string_view workerKindName(WorkerKind kind);

/// Task states; transitions are forward only, in this order.
enum class TaskState : uint8_t { Free, Pending, Ready, Running, Completed, Consumed };
std::string_view taskStateName(TaskState state);

/// Rings of task slots: ring = min(scope depth, kNumRings - 1), so that tasks of an inner scope are reclaimed while an
/// outer scope is open.
inline constexpr unsigned kNumRings = 4;
inline constexpr unsigned kMaxOutputs = 16;
inline constexpr unsigned kMaxArguments = 48;
inline constexpr unsigned kMaxCoresPerKind = 256;
/// Alignment of task outputs, in bytes.
inline constexpr uint64_t kOutputAlignment = 64;

/// A unique task id, never reused: the ring in the top 8 bits, the local id within the ring (from 1) in the lower 56. 0
/// is no task.
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

/// Why a run failed. The numbers are part of the C API.
enum class ErrorCode : int32_t {
  None = 0,
  ScopeDeadlock = 1,  ///< the tasks of an open scope fill the window
  HeapDeadlock = 2,   ///< outputs exceed the heap, or it is held by an open scope
  WindowDeadlock = 3, ///< the window stays full although no scope holds it
  DependencyPool = 4, ///< edges exceed the pool, or it is held by an open scope
  BadArguments = 5,
  GangTooWide = 7, ///< more blocks start together than cores exist
  TensorWait = 8,  ///< a host access waited for a task that does not complete
  UserFatal = 9,
  ScopeMisuse = 10, ///< too deep, or ended without a begin
  TensorMapFull = 11,
  HungKernel = 100, ///< a kernel runs for longer than the limit
  NoProgress = 101, ///< nothing is running, and ready tasks are not started
  ReadyQueueFull = 104,
  KernelFailed = 200,
  NotUsable = 201, ///< a kernel of an earlier run has not returned
};

} // namespace pto_mlir::tasks

#endif
