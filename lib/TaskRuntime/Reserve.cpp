// Reserves room for a task; waits for it and detects when it can never become available.
#include "pto_mlir/TaskRuntime/TaskCore.h"

#include <algorithm>

namespace pto_mlir::tasks {

Status TaskCore::reserve(TaskRing &ring, unsigned ringIndex, uint64_t bytes, uint32_t mapEntries) {
  uint32_t edges = edgesNeeded();
  auto never = [&](ErrorCode code, std::string what, uint64_t has, std::string field) -> Status {
    if (field == "heapBytes")
      field += "[" + std::to_string(ringIndex) + "]";
    fatal(code, "a task needs " + what + ", but " + field + " is " + std::to_string(has) + ": enlarge " + field);
    return currentError();
  };
  if (!ring.heap().couldFit(bytes))
    return never(ErrorCode::HeapDeadlock, std::to_string(bytes) + " bytes of outputs", ring.heap().size(), "heapBytes");
  if (edges > ring.pool().capacity())
    return never(ErrorCode::DependencyPool, std::to_string(edges) + " dependency entries", ring.pool().capacity(),
                 "dependencyEntries");
  if (mapEntries > map.capacity())
    return never(ErrorCode::TensorMapFull, std::to_string(mapEntries) + " tensor map entries", map.capacity(),
                 "tensorMapEntries");

  // All four resources are checked before any is allocated.
  auto lacking = [&]() -> ErrorCode {
    if (!ring.hasSlot())
      return ErrorCode::WindowDeadlock;
    if (!ring.heap().find(bytes))
      return ErrorCode::HeapDeadlock;
    if (!ring.pool().hasRoom(edges))
      return ErrorCode::DependencyPool;
    map.retire(
        ringIndex, ring.next() - ring.liveAsSeen(),
        [&](TaskId task, const Region &region, TensorMap::Access access) { rememberPoison(task, region, access); });
    return map.hasRoom(ringIndex, mapEntries) ? ErrorCode::None : ErrorCode::TensorMapFull;
  };
  ErrorCode code = lacking();
  if (code == ErrorCode::TensorMapFull && ring.live() != 0)
    code = lacking(); // with the current watermark
  if (code == ErrorCode::None)
    return {};

  // The oldest task of the ring is held by an open scope, which only this (waiting) thread could close.
  auto pinned = [&] {
    TaskSlot &head = ring.slot(ring.watermark());
    return std::any_of(scopes.begin(), scopes.end(), [&](const Scope &scope) { return scope.serial == head.scope; });
  };
  uint64_t begin = driver->now();
  Stall stall;
  bool deadlock = false;
  auto done = [&] {
    // `pinned` must be evaluated before `lacking`: a pinned ring does not change, so a shortage seen then is permanent.
    // In the opposite order, tasks that complete in between make the ring appear full and pinned although it was never
    // both.
    bool stuck = ring.live() != 0 && pinned();
    (void)ring.live();
    code = lacking();
    deadlock = stuck && code != ErrorCode::None;
    return code == ErrorCode::None || deadlock;
  };
  stall = driver->waitUntil(done);
  uint64_t end = driver->now();
  counts.blockedNs += end - begin;
  ++counts.blockedTimes;
  if (tracing)
    trace.blocked.push_back({begin, end});
  if (code == ErrorCode::None)
    return {};
  if (deadlock)
    return blocked(ring, code == ErrorCode::WindowDeadlock ? ErrorCode::ScopeDeadlock : code, bytes, edges);
  if (stall.code == ErrorCode::HungKernel) {
    fatal(stall.code, stall.message);
    return currentError();
  }
  return blocked(ring, code, bytes, edges);
}

Status TaskCore::blocked(TaskRing &ring, ErrorCode code, uint64_t bytes, uint32_t edges) {
  unsigned index = 0;
  while (rings[index].get() != &ring)
    ++index;
  std::string ringName = "[" + std::to_string(index) + "]";
  std::string field, state;
  switch (code) {
  case ErrorCode::HeapDeadlock:
    field = "heapBytes" + ringName;
    state = std::to_string(ring.heap().used()) + " of " + std::to_string(ring.heap().size()) +
            " output bytes are in use and a task needs " + std::to_string(bytes);
    break;
  case ErrorCode::DependencyPool:
    field = "dependencyEntries";
    state = std::to_string(ring.pool().used()) + " of " + std::to_string(ring.pool().capacity()) +
            " dependency entries are in use and a task needs " + std::to_string(edges);
    break;
  case ErrorCode::TensorMapFull:
    field = "tensorMapEntries";
    state = "all " + std::to_string(map.capacity()) + " tensor map entries are in use";
    break;
  default:
    field = "window" + ringName;
    state = "all " + std::to_string(ring.window()) + " task slots are in use";
  }
  TaskId oldest = TaskId::make(index, ring.watermark());
  TaskSlot &head = slotOf(oldest);
  std::string why;
  auto owner =
      std::find_if(scopes.begin(), scopes.end(), [&](const Scope &scope) { return scope.serial == head.scope; });
  if (owner != scopes.end())
    why = "the oldest, task " + describe(head, oldest) + ", is held by the open scope at depth " +
          std::to_string(owner - scopes.begin() + 1) + "; enlarge " + field + " or end the scope earlier";
  else
    why = "the oldest, task " + describe(head, oldest) + ", is " + std::string(taskStateName(this->state(oldest))) +
          " and nothing runs; enlarge " + field;
  fatal(code, "deadlock: " + state + "; " + why, oldest);
  return currentError();
}

} // namespace pto_mlir::tasks
