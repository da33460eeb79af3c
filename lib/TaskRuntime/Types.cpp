#include "pto_mlir/TaskRuntime/Types.h"

namespace pto_mlir::tasks {

std::string_view workerKindName(WorkerKind kind) {
  switch (kind) {
  case WorkerKind::Cube:
    return "CUBE";
  case WorkerKind::Vector:
    return "VECTOR";
  case WorkerKind::AiCpu:
    return "AI_CPU";
  case WorkerKind::Accelerator:
    return "ACCELERATOR";
  }
  return "unknown";
}

std::string_view taskStateName(TaskState state) {
  switch (state) {
  case TaskState::Free:
    return "FREE";
  case TaskState::Pending:
    return "PENDING";
  case TaskState::Ready:
    return "READY";
  case TaskState::Running:
    return "RUNNING";
  case TaskState::Completed:
    return "COMPLETED";
  case TaskState::Consumed:
    return "CONSUMED";
  }
  return "unknown";
}

std::string toString(TaskId id) {
  std::string local = std::to_string(id.local());
  return id.ring() ? std::to_string(id.ring()) + ":" + local : local;
}

} // namespace pto_mlir::tasks
