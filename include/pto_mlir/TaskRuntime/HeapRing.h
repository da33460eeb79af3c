// The ring allocator of task outputs.
#ifndef PTO_MLIR_TASKRUNTIME_HEAPRING_H
#define PTO_MLIR_TASKRUNTIME_HEAPRING_H

#include "pto_mlir/TaskRuntime/Types.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

namespace pto_mlir::tasks {

/// Positions are 64-bit and monotonic; a byte's offset is its position modulo the size. So a full ring and an empty one
/// are distinct, and the end marker of an older task cannot move the tail back. One thread allocates; one thread at a
/// time retires.
class HeapRing {
public:
  /// An allocated range of the ring.
  struct Block {
    uint64_t begin = 0, end = 0; ///< positions
  };

  /// `size` in bytes, a multiple of kOutputAlignment.
  explicit HeapRing(uint64_t size) : ringSize(size) {}

  uint64_t size() const { return ringSize; }
  uint64_t offset(uint64_t position) const { return ringSize ? position % ringSize : 0; }
  /// Bytes from the oldest live block to the newest, including those skipped at the end of the ring.
  uint64_t used() {
    refresh();
    return top - currentTail();
  }

  /// As `used`, by the cached tail.
  uint64_t usedAsSeen() const { return top - currentTail(); }

  static uint64_t roundUp(uint64_t bytes) { return (bytes + kOutputAlignment - 1) & ~(kOutputAlignment - 1); }
  /// Whether a block of `bytes` fits into the empty ring.
  bool couldFit(uint64_t bytes) const { return bytes <= ringSize && roundUp(bytes) <= ringSize; }

  /// The position at which a block of `bytes` would be allocated; nullopt while there is no room. A block never wraps
  /// around the end of the ring.
  std::optional<Block> find(uint64_t bytes) {
    if (bytes == 0)
      return Block{top, top};
    if (!couldFit(bytes))
      return std::nullopt;
    std::optional<Block> block = findIn(roundUp(bytes));
    if (!block) {
      refresh();
      block = findIn(roundUp(bytes));
    }
    return block;
  }

  /// Allocates the block that `find` returned. Between the two calls only `retire` may be called.
  void commit(Block block) {
    if (block.begin == block.end)
      return;
    if (currentTail() == top)
      rebased = block.begin;
    top = block.end;
  }

  /// Frees everything before `end`; a position before the tail has no effect.
  void retire(uint64_t end) {
    if (end > tail.load(std::memory_order_relaxed))
      tail.store(end, std::memory_order_release);
  }

private:
  std::optional<Block> findIn(uint64_t bytes) const {
    uint64_t tail = currentTail(), begin = top;
    if (begin % ringSize + bytes > ringSize)
      begin += ringSize - begin % ringSize;
    // An empty ring has no live bytes, so the skipped ones do not count.
    uint64_t oldest = tail == top ? begin : tail;
    if (begin + bytes - oldest > ringSize)
      return std::nullopt;
    return Block{begin, begin + bytes};
  }

  /// The tail is cached: reading it takes its cache line from the thread that retires.
  void refresh() { seenTail = tail.load(std::memory_order_acquire); }
  uint64_t currentTail() const { return std::max(seenTail, rebased); }

  const uint64_t ringSize;
  uint64_t top = 0;
  uint64_t seenTail = 0;
  uint64_t rebased = 0; ///< begin of the first block allocated into the empty ring
  alignas(64) std::atomic<uint64_t> tail{0};
};

} // namespace pto_mlir::tasks

#endif
