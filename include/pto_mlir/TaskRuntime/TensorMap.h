// Maps regions of memory to the tasks that last wrote and read them.
#ifndef PTO_MLIR_TASKRUNTIME_TENSORMAP_H
#define PTO_MLIR_TASKRUNTIME_TENSORMAP_H

#include "pto_mlir/TaskRuntime/Region.h"
#include "pto_mlir/TaskRuntime/Types.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <vector>

namespace pto_mlir::tasks {

/// Used by the orchestrator only. A hierarchical spatial hash: a region of span s is stored in the cell of its first
/// byte at level ceil(log2 s). A lookup visits a few cells per level in use, independent of the number of regions, or
/// all regions of a level when these are fewer than the cells. Entries of a ring are allocated in submission order and
/// freed in that order, when their tasks are retired.
class TensorMap {
public:
  enum Access : uint8_t { Reader = 0, Writer = 1 };

  /// `capacity` entries per ring.
  explicit TensorMap(uint32_t capacity);
  ~TensorMap();

  uint32_t capacity() const { return ringCapacity; }
  /// Entries of `ring` that are in use.
  uint32_t used(unsigned ring) const { return uint32_t(rings[ring].top - rings[ring].tail); }

  /// Whether `count` more entries of `ring` fit.
  bool hasRoom(unsigned ring, uint32_t count) const { return used(ring) + count <= ringCapacity; }

  /// Allocates the entries of `ring`, so that `insert` cannot fail.
  void prepare(unsigned ring);

  /// Frees the entries of `ring` whose tasks are older than `watermark`; calls `dropped` for each one still linked.
  template <class Dropped> void retire(unsigned ring, uint64_t watermark, Dropped &&dropped) {
    Ring &entries = rings[ring];
    while (entries.tail < entries.top) {
      Entry &entry = entries.entries[entries.tailPlace];
      if (entry.task().local() >= watermark)
        return;
      if (entry.linked) {
        dropped(entry.task(), entry.region, Access(entry.access));
        unlink(entry);
      }
      ++entries.tail;
      entries.tailPlace = after(entries, entries.tailPlace);
    }
  }

  /// Calls `visit(TaskId)` for every task that wrote (or read) bytes of `region`.
  template <class Visit> void lookup(const Region &region, Access access, Visit &&visit) const {
    forEachOverlap(region, access, [&](Entry &entry) { visit(entry.task()); });
  }

  struct Entry;
  /// Entries covered by a region that is about to be written.
  using Covered = std::vector<Entry *>;
  /// As above; appends the entries that `region` covers to `covered`.
  template <class Visit> void lookup(const Region &region, Access access, Visit &&visit, Covered &covered) const {
    forEachOverlap(region, access, [&](Entry &entry) {
      if (covers(region, entry.region))
        covered.push_back(&entry);
      visit(entry.task());
    });
  }
  /// Removes the entries recorded by lookups, except those already retired. They are redundant: later tasks depend on
  /// the new writer, which depends on them.
  void supersede(const Covered &covered) {
    for (Entry *entry : covered)
      if (entry->linked)
        unlink(*entry);
  }
  /// As `insert`, for a read, or for a write whose superseded entries were recorded by `lookup`.
  void insertNoted(const Region &region, Access access, TaskId task);

  /// Records that `task` reads or writes `region`. A write supersedes all entries that it covers. The caller has
  /// checked `hasRoom`; an empty region takes no entry.
  void insert(const Region &region, Access access, TaskId task);

  /// Not initialised by default, so that pages of a ring are committed on first use.
  struct Entry {
    Region region;
    uint64_t taskValue;
    uint32_t bucket;
    uint8_t access, level;
    bool linked;
    Entry *next, *previous;           // in the bucket
    Entry *levelNext, *levelPrevious; // in the level
    TaskId task() const { return TaskId{taskValue}; }
  };

private:
  struct Ring {
    std::unique_ptr<Entry[]> entries;
    uint64_t top = 0, tail = 0;
    uint32_t topPlace = 0, tailPlace = 0; ///< the same as indices of `entries`
  };
  /// The index after `place`. Prefetches the following entries: the ring exceeds the inner caches.
  uint32_t after(const Ring &ring, uint32_t place) const {
    uint32_t next = place + 1 == ringCapacity ? 0 : place + 1;
    const char *soon = reinterpret_cast<const char *>(&ring.entries[std::min(next + 2, ringCapacity - 1)]);
    __builtin_prefetch(soon, 1);
    __builtin_prefetch(soon + 64, 1);
    return next;
  }
  static constexpr unsigned kLevels = 64;
  /// The part of `buckets` in use starts small, to stay in the cache, and doubles when there are more entries than
  /// buckets.
  struct Table {
    std::unique_ptr<Entry *[]> buckets;
    uint32_t mask = 0, linked = 0;
    std::array<uint32_t, kLevels> count{};  ///< entries per level
    std::array<Entry *, kLevels> entries{}; ///< the newest of each level
    uint64_t inUse = 0;                     ///< a bit per level that has entries
  };

  static unsigned levelOf(uint64_t span);
  static uint32_t bucketOf(const Table &table, unsigned level, uint64_t cell) {
    uint64_t hash = (cell ^ uint64_t(level) << 58) * 0x9e3779b97f4a7c15ull;
    return uint32_t(hash >> 32) & table.mask;
  }
  static void linkInBucket(Table &table, Entry &entry);
  void grow(Table &table);
  void unlink(Entry &entry);
  template <class Visit> void forEachOverlap(const Region &region, Access access, Visit &&visit) const {
    if (region.empty())
      return;
    const Table &table = tables[access];
    for (uint64_t levels = table.inUse; levels != 0; levels &= levels - 1) {
      unsigned level = unsigned(std::countr_zero(levels));
      // An entry of this level spans at most 2^level bytes, so it begins at most one cell before the region.
      uint64_t first = region.begin >> level, last = (region.end - 1) >> level;
      if (first > 0)
        --first;
      // `visit` may unlink the entry.
      if (last - first >= table.count[level]) {
        for (Entry *entry = table.entries[level], *next; entry; entry = next) {
          next = entry->levelNext;
          if (overlap(entry->region, region))
            visit(*entry);
        }
        continue;
      }
      for (uint64_t cell = first; cell <= last; ++cell)
        for (Entry *entry = table.buckets[bucketOf(table, level, cell)], *next; entry; entry = next) {
          next = entry->next;
          if (entry->level == level && entry->region.begin >> level == cell && overlap(entry->region, region))
            visit(*entry);
        }
    }
  }
  const uint32_t ringCapacity, smallestMask, largestMask;
  std::array<Ring, kNumRings> rings;
  Table tables[2];
};

} // namespace pto_mlir::tasks

#endif
