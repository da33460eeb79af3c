// The pool of fan-in and fan-out list entries.
#ifndef PTO_MLIR_TASKRUNTIME_DEPENDENCYPOOL_H
#define PTO_MLIR_TASKRUNTIME_DEPENDENCYPOOL_H

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

namespace pto_mlir::tasks {

/// Why an edge exists.
enum EdgeFlags : uint32_t {
  Wait = 1,   ///< the consumer starts after the producer
  Retain = 2, ///< the producer's outputs are retained until the consumer has completed
  Data = 4,   ///< the consumer reads the producer's output, so a failure propagates to it
};

/// One entry of a fan-in or fan-out list.
struct DependencyEntry {
  uint64_t task = 0;
  uint32_t next = 0; ///< a link, 0 = end of the list
  uint32_t flags = 0;
};

/// A ring of entries. All entries allocated by the submission of a task are dead once that task is consumed: its fan-in
/// list, and its entries in the fan-out lists of its producers, which have completed. So the tail follows the
/// watermark, as in HeapRing. Entry 0 is the null sentinel. One thread allocates; one thread at a time retires.
class DependencyPool {
public:
  explicit DependencyPool(uint32_t capacity) : entries(new DependencyEntry[capacity + 1]), ringSize(capacity) {}

  uint32_t capacity() const { return ringSize; }
  /// Number of entries in use; rereads the shared tail.
  uint32_t used() {
    seenTail = tail.load(std::memory_order_acquire);
    return uint32_t(top - seenTail);
  }
  /// Peak number of entries in use, as observed by the allocating thread.
  uint32_t highWater() const { return peak; }
  /// The position after the newest entry, for `retire`.
  uint64_t position() const { return top; }
  /// Rereads the shared tail only when the cached one does not suffice.
  bool hasRoom(uint32_t count) { return top - seenTail + count <= ringSize || uint64_t(used()) + count <= ringSize; }

  /// The offset of a new entry, from 1. The caller has checked `hasRoom`.
  uint32_t allocate() {
    ++top;
    place = place == ringSize ? 1 : place + 1;
    __builtin_prefetch(&entries[std::min(place + 8, ringSize)], 1); // last read by a scheduler
    peak = std::max(peak, uint32_t(top - seenTail));
    return place;
  }
  DependencyEntry &operator[](uint32_t offset) { return entries[offset]; }

  /// Entries before `position` are free; an older position has no effect.
  void retire(uint64_t position) {
    if (position > tail.load(std::memory_order_relaxed))
      tail.store(position, std::memory_order_release);
  }

private:
  std::unique_ptr<DependencyEntry[]> entries;
  const uint32_t ringSize;
  uint64_t top = 0, seenTail = 0;
  uint32_t place = 0; ///< the most recently allocated entry
  uint32_t peak = 0;
  alignas(64) std::atomic<uint64_t> tail{0};
};

} // namespace pto_mlir::tasks

#endif
