// Set-up, scopes, host access and the end of a run.
#include "pto_mlir/TaskRuntime/TaskCore.h"

#include "InsideKernel.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <sys/mman.h>

namespace pto_mlir::tasks {

bool &insideKernel() {
  thread_local bool inside = false;
  return inside;
}

TaskCore::TaskCore(const Config &config, const std::vector<Kernel> &kernels)
    : config(config), kernels(kernels), map(config.tensorMapEntries) {
  // A task is in at most one queue, so a queue with as many cells as slots never overflows.
  size_t capacity = 0;
  for (uint32_t window : config.window)
    capacity += window;
  for (unsigned kind = 0; kind < kNumWorkerKinds; ++kind)
    if (config.cores[kind]) {
      readyQueues[kind] = std::make_unique<ReadyQueue>(capacity);
      gangQueues[kind] = std::make_unique<ReadyQueue>(capacity);
    }
  inlineQueue = std::make_unique<ReadyQueue>(capacity);
  scopes.reserve(config.maxScopeDepth);
  candidates.reserve(256);
}

TaskCore::~TaskCore() {
  for (unsigned i = 0; i < kNumRings; ++i)
    if (hostHeaps[i])
      munmap(hostHeaps[i], config.heapBytes[i]);
}

uint64_t TaskCore::heapBase(unsigned index) {
  if (config.heapBase[index] || config.heapBytes[index] == 0)
    return config.heapBase[index];
  // Pages are committed on first write.
  void *memory = mmap(nullptr, config.heapBytes[index], PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw std::bad_alloc();
  hostHeaps[index] = memory;
  return uint64_t(reinterpret_cast<uintptr_t>(memory));
}

TaskRing &TaskCore::prepareRing(unsigned index) {
  if (!rings[index]) {
    uint64_t base = hostHeaps[index] ? uint64_t(reinterpret_cast<uintptr_t>(hostHeaps[index])) : heapBase(index);
    map.prepare(index);
    rings[index] = std::make_unique<TaskRing>(config.window[index], base, config.heapBytes[index],
                                              config.dependencyEntries, config.firstTask);
  }
  return *rings[index];
}

const char *TaskCore::nameOf(const TaskSlot &slot) const { return slot.name ? slot.name : kernelNameOf(slot); }

std::string TaskCore::describe(const TaskSlot &slot, TaskId id) const {
  return toString(id) + " ('" + nameOf(slot) + "'" +
         (slot.name && kernelOf(slot) ? std::string(", kernel '") + kernelNameOf(slot) + "'" : "") + ")";
}

TaskState TaskCore::state(TaskId task) const {
  if (!task || task.ring() >= kNumRings || !rings[task.ring()])
    return TaskState::Free;
  TaskRing &ring = *rings[task.ring()];
  uint64_t word = ring.slot(task.local()).word.load(std::memory_order_acquire);
  if (TaskSlot::wordLocal(word) == task.local())
    return TaskSlot::wordState(word);
  return task.local() < ring.watermark() && task.local() >= config.firstTask ? TaskState::Consumed : TaskState::Free;
}

size_t TaskCore::numReady() const {
  size_t count = inlineQueue->size();
  for (unsigned kind = 0; kind < kNumWorkerKinds; ++kind)
    if (readyQueues[kind])
      count += readyQueues[kind]->size() + gangQueues[kind]->size();
  return count;
}

bool TaskCore::drained() const {
  return std::all_of(rings.begin(), rings.end(), [](auto &ring) { return !ring || ring->watermark() == ring->next(); });
}

void TaskCore::fatal(ErrorCode code, std::string message, TaskId task) {
  {
    std::lock_guard lock(errorMutex);
    // Keep the first error; the others are usually its consequences.
    if (firstError.code == ErrorCode::None)
      firstError = {code, std::move(message), task};
  }
  stopped.store(true, std::memory_order_release);
}

RunError TaskCore::error() const {
  std::lock_guard lock(errorMutex);
  RunError error = firstError;
  if (numErrors > 1)
    error.message += "; " + std::to_string(numErrors - 1) + " more kernel" + (numErrors > 2 ? "s" : "") + " failed";
  return error;
}

Status TaskCore::currentError() const {
  if (insideKernel())
    return Failure{"a kernel can neither submit tasks nor wait for them"};
  if (!stopped.load(std::memory_order_acquire))
    return {};
  return Failure{error().message};
}

void TaskCore::reportFailure(TaskSlot &slot, TaskId id, uint32_t core, const std::string &cause) {
  slot.failed.store(true, std::memory_order_relaxed);
  std::lock_guard lock(errorMutex);
  ++numErrors;
  if (firstError.code == ErrorCode::None)
    firstError = {ErrorCode::KernelFailed,
                  "task " + describe(slot, id) + " failed on " + std::string(workerKindName(slot.kind)) + " core " +
                      std::to_string(core) + ": " + cause,
                  id};
}

Status TaskCore::scopeBegin() {
  if (Status status = currentError(); !status)
    return status;
  if (scopes.size() >= config.maxScopeDepth) {
    fatal(ErrorCode::ScopeMisuse, "a scope at depth " + std::to_string(scopes.size() + 1) +
                                      " exceeds maxScopeDepth = " + std::to_string(config.maxScopeDepth));
    return currentError();
  }
  scopes.push_back({++scopeSerial, scopeTasks.size()});
  return {};
}

Status TaskCore::scopeEnd() {
  if (Status status = currentError(); !status)
    return status;
  if (scopes.empty()) {
    fatal(ErrorCode::ScopeMisuse, "a scope ends that never began");
    return currentError();
  }
  closeScope();
  return {};
}

void TaskCore::closeScope() {
  // Only drops references; does not wait for the tasks.
  size_t first = scopes.back().firstTask, end = scopeTasks.size();
  unsigned ring = ringOfScope();
  bool consumed = false;
  for (size_t i = first; i < end; ++i) {
    if (i + 16 < end)
      __builtin_prefetch(&slotOf(scopeTasks[i + 16]), 1); // last written by schedulers
    consumed |= dropReference(slotOf(scopeTasks[i]), scopeTasks[i]);
  }
  // Advance once for all tasks: only this thread could be waiting on the watermark.
  if (consumed)
    rings[ring]->advance();
  scopeTasks.resize(first);
  scopes.pop_back();
}

Status TaskCore::wait(TaskId task) {
  if (Status status = currentError(); !status)
    return status;
  if (state(task) == TaskState::Free)
    return Failure{"there is no task " + toString(task)};
  Stall stall = driver->waitUntil([&] { return state(task) >= TaskState::Completed; });
  if (stall.code != ErrorCode::None) {
    fatal(stall.code == ErrorCode::HungKernel ? stall.code : ErrorCode::TensorWait,
          "waiting for task " + toString(task) + ": " + stall.message, task);
    return currentError();
  }
  if (hasFailed(task))
    return Failure{"task " + toString(task) + " failed or depends on one that did"};
  return {};
}

Status TaskCore::waitForAccess(const Tensor &tensor, bool write) {
  if (Status status = currentError(); !status)
    return status;
  if (tensor.owner && state(tensor.owner) == TaskState::Consumed)
    return Failure{"the tensor is an output of task " + toString(tensor.owner) +
                   ", whose memory is free: it was used after its scope ended"};
  std::vector<TaskId> tasks;
  Region region = tensor.region();
  map.lookup(region, TensorMap::Writer, [&](TaskId task) { tasks.push_back(task); });
  if (write)
    map.lookup(region, TensorMap::Reader, [&](TaskId task) { tasks.push_back(task); });
  else if (std::any_of(poisonedRegions.begin(), poisonedRegions.end(),
                       [&](const Region &bad) { return overlap(bad, region); }))
    return Failure{"the tensor was to be written by a task that failed"};
  for (TaskId task : tasks)
    if (Status status = wait(task); !status && (stopped || !write))
      return status;
  return {};
}

bool TaskCore::hasFailed(TaskId task) {
  if (!anyFailed.load(std::memory_order_acquire))
    return false;
  std::lock_guard lock(errorMutex);
  return failedTasks.count(task.value) != 0;
}

void TaskCore::rememberPoison(TaskId task, const Region &region, TensorMap::Access access) {
  if (access == TensorMap::Writer && hasFailed(task))
    poisonedRegions.push_back(region);
}

void TaskCore::refuse(std::string message) {
  std::lock_guard lock(errorMutex);
  firstError = {ErrorCode::NotUsable, std::move(message), {}};
  numErrors = 0;
}

void TaskCore::beginRun() {
  stopped.store(false);
  cancelled.store(false);
  anyFailed.store(false);
  {
    std::lock_guard lock(errorMutex); // `cancel` may be called by any thread
    firstError = {};
    numErrors = 0;
    failedTasks.clear();
  }
  poisonedRegions.clear();
  counts = {};
  completedBefore = numCompleted.load();
  skippedBefore = numSkipped.load();
  failedBefore = numFailed.load();
  trace = {};
  trace.cores = config.cores;
}

void TaskCore::finishRun() {
  while (!scopes.empty())
    closeScope();
  if (stopped.load(std::memory_order_acquire))
    cancel();
  driver->kick();
  Stall stall = driver->waitUntil([&] { return drained(); });
  if (stall.code != ErrorCode::None) {
    fatal(stall.code, stall.message);
    cancel();
    return;
  }
  for (unsigned i = 0; i < kNumRings; ++i)
    if (rings[i])
      map.retire(i, rings[i]->watermark(), [](TaskId, const Region &, TensorMap::Access) {});
}

Statistics TaskCore::statistics() const {
  Statistics result = counts;
  result.completed = numCompleted.load() - completedBefore;
  result.skipped = numSkipped.load() - skippedBefore;
  result.failed = numFailed.load() - failedBefore;
  for (auto &ring : rings)
    if (ring)
      result.slotReuses += ring->reuses();
  return result;
}

} // namespace pto_mlir::tasks
