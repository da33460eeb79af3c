#include "pto_mlir/TaskRuntime/TaskRing.h"

namespace pto_mlir::tasks {

bool TaskRing::advance() {
  bool moved = false;
  again.store(true);
  while (again.load() && !advancing.exchange(true)) {
    again.store(false);
    uint64_t local = oldest.load(std::memory_order_relaxed);
    while (true) {
      TaskSlot &task = slot(local);
      uint64_t word = task.word.load(std::memory_order_seq_cst);
      // The id in the word distinguishes this task from earlier tasks of the slot, even before it is submitted.
      if (TaskSlot::wordLocal(word) != local || TaskSlot::wordState(word) != TaskState::Consumed)
        break;
      heapRing.retire(task.heapEnd);
      dependencyPool.retire(task.poolEnd);
      // Publish each step: a task that is consumed during this loop is compared with the watermark.
      oldest.store(++local, std::memory_order_seq_cst);
      moved = true;
    }
    advancing.store(false);
  }
  return moved;
}

} // namespace pto_mlir::tasks
