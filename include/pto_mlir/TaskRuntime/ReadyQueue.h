// A bounded multi-producer, multi-consumer queue of task ids.
#ifndef PTO_MLIR_TASKRUNTIME_READYQUEUE_H
#define PTO_MLIR_TASKRUNTIME_READYQUEUE_H

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace pto_mlir::tasks {

/// Each cell has a sequence number: position = free for the push at that position, position + 1 = filled. A push claims
/// a position, writes the value, then store-releases the sequence number; a pop load-acquires it, so no cell is read
/// before it is written. FIFO between pushes that do not overlap in time.
class ReadyQueue {
public:
  /// `capacity` is rounded up to a power of two.
  explicit ReadyQueue(size_t capacity)
      : mask(std::bit_ceil(capacity < 2 ? size_t(2) : capacity) - 1), cells(new Cell[mask + 1]) {
    for (size_t i = 0; i <= mask; ++i)
      cells[i].sequence.store(i, std::memory_order_relaxed);
  }

  size_t capacity() const { return mask + 1; }

  /// Number of queued values; a snapshot under concurrency.
  size_t size() const {
    uint64_t end = tail.load(std::memory_order_acquire), begin = head.load(std::memory_order_acquire);
    return end > begin ? size_t(end - begin) : 0;
  }

  /// False when full.
  bool push(uint64_t value) { return pushAll(&value, 1); }

  /// Pushes all `count` values, or none when they do not all fit; then returns false.
  bool pushAll(const uint64_t *values, size_t count) {
    if (count > capacity())
      return false;
    uint64_t position = tail.load(std::memory_order_relaxed);
    while (true) {
      size_t state = 0; // of the first cell that is not free: 0 none, 1 still full, 2 `position` is stale
      for (size_t i = 0; i < count && !state; ++i) {
        uint64_t sequence = cells[(position + i) & mask].sequence.load(std::memory_order_acquire);
        if (sequence != position + i)
          state = sequence < position + i ? 1 : 2;
      }
      if (state == 1 && tail.load(std::memory_order_relaxed) == position)
        return false;
      if (state == 0 && tail.compare_exchange_weak(position, position + count, std::memory_order_relaxed))
        break;
      if (state)
        position = tail.load(std::memory_order_relaxed);
    }
    __builtin_prefetch(&cells[(position + count + 8) & mask], 1); // last written by a pop
    for (size_t i = 0; i < count; ++i) {
      Cell &cell = cells[(position + i) & mask];
      cell.value = values[i];
      cell.sequence.store(position + i + 1, std::memory_order_release);
    }
    return true;
  }

  /// False when empty.
  bool pop(uint64_t &value) { return popSome(&value, 1) == 1; }

  /// Pops up to `limit` values, oldest first, and returns how many.
  size_t popSome(uint64_t *values, size_t limit) {
    uint64_t position = head.load(std::memory_order_relaxed);
    size_t count;
    while (true) {
      bool old = false;
      for (count = 0; count < limit; ++count) {
        uint64_t sequence = cells[(position + count) & mask].sequence.load(std::memory_order_acquire);
        if (sequence != position + count + 1) {
          old = sequence > position + count + 1;
          break;
        }
      }
      if (old) {
        position = head.load(std::memory_order_relaxed);
        continue;
      }
      if (count == 0)
        return 0;
      if (head.compare_exchange_weak(position, position + count, std::memory_order_relaxed))
        break;
    }
    for (size_t i = 0; i < count; ++i) {
      Cell &cell = cells[(position + i) & mask];
      values[i] = cell.value;
      cell.sequence.store(position + i + mask + 1, std::memory_order_release);
    }
    return count;
  }

private:
  struct Cell {
    std::atomic<uint64_t> sequence;
    uint64_t value;
  };
  const size_t mask;
  std::unique_ptr<Cell[]> cells;
  alignas(64) std::atomic<uint64_t> tail{0};
  alignas(64) std::atomic<uint64_t> head{0};
};

} // namespace pto_mlir::tasks

#endif
