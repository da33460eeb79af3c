// Completion of a task: references, consumers, failures.
#include "pto_mlir/TaskRuntime/TaskCore.h"

#include <cstring>

namespace pto_mlir::tasks {

void TaskCore::makeReady(TaskSlot &slot, TaskId id) {
  slot.word.store(TaskSlot::makeWord(id.local(), TaskState::Ready), std::memory_order_release);
  if (tracing)
    slot.times.ready = now();
  bool needsCore = slot.kernel != kNoKernel && !slot.failed.load(std::memory_order_relaxed);
  ReadyQueue &queue = !needsCore  ? *inlineQueue
                      : slot.gang ? *gangQueues[unsigned(slot.kind)]
                                  : *readyQueues[unsigned(slot.kind)];
  if (!queue.push(id.value))
    fatal(ErrorCode::ReadyQueueFull, "a ready queue overflowed, although it has a place for every slot");
}

bool TaskCore::predicateHolds(const TaskSlot &slot) {
  const Predicate &predicate = slot.predicate;
  if (!predicate.address)
    return true;
  uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const void *>(uintptr_t(predicate.address)), predicate.bytes);
  unsigned unused = 64 - 8 * predicate.bytes;
  return predicate.holds(int64_t(word << unused) >> unused);
}

bool TaskCore::dropReference(TaskSlot &slot, TaskId id) {
  if (slot.references.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return false; // the slot may be reused from here on
  uint64_t failed = slot.failed.load(std::memory_order_relaxed);
  slot.word.store(TaskSlot::makeWord(id.local(), TaskState::Consumed, failed), std::memory_order_seq_cst);
  return true;
}

bool TaskCore::release(TaskSlot &slot, TaskId id) {
  if (!dropReference(slot, id))
    return false;
  TaskRing &ring = *rings[id.ring()];
  return ring.watermark() == id.local() && ring.advance();
}

TaskCore::Effect TaskCore::complete(TaskSlot &slot, TaskId id, bool skipped) {
  Effect effect;
  if (slot.faninHead)
    __builtin_prefetch(&entryAt(slot.faninHead));
  bool failed = slot.failed.load(std::memory_order_acquire);
  if (failed) {
    std::lock_guard lock(errorMutex);
    failedTasks.insert(id.value);
    anyFailed.store(true, std::memory_order_release);
    numFailed.fetch_add(1, std::memory_order_relaxed);
  }
  if (skipped)
    numSkipped.fetch_add(1, std::memory_order_relaxed);
  slot.word.store(TaskSlot::makeWord(id.local(), TaskState::Completed, failed), std::memory_order_release);
  // A consumer that is being wired concurrently either entered the list before this exchange, or finds it closed and
  // the state set.
  uint32_t link = slot.fanoutHead.exchange(TaskSlot::kClosed, std::memory_order_acq_rel);
  while (link != 0) {
    // The entry is owned by the consumer: read all of it before the consumer may proceed.
    DependencyEntry entry = entryAt(link);
    TaskId consumer{entry.task};
    TaskSlot &next = slotOf(consumer);
    if (failed && (entry.flags & Data))
      next.failed.store(true, std::memory_order_relaxed);
    if (next.faninLeft.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      makeReady(next, consumer);
      ++effect.madeReady;
    }
    link = entry.next;
  }
  for (uint32_t claim = slot.faninHead; claim != 0;) {
    DependencyEntry entry = entryAt(claim);
    claim = entry.next;
    effect.reclaimed |= release(slotOf(TaskId{entry.task}), TaskId{entry.task});
  }
  numCompleted.fetch_add(1, std::memory_order_release);
  effect.reclaimed |= release(slot, id);
  return effect;
}

} // namespace pto_mlir::tasks
