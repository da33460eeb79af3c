// From a region of memory to the tasks that last wrote and read it.
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

/// Used by the orchestrator only. Regions lie in a hierarchical hash: a region of span s is in the cell of its first
/// byte at level ceil(log2 s), so a lookup visits a few cells per level in use, however many regions there are, or a
/// level's regions where they are fewer than the cells. Entries of one ring are taken in submission order and given
/// back in that order, when their tasks are retired.
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

  /// Makes the storage of `ring`'s entries, so that `insert` cannot fail.
  void prepare(unsigned ring);

  /// Gives back the oldest entries of `ring` whose tasks lie before `watermark`; `dropped` sees each live one first.
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
  /// Entries that a region which is about to be written covers.
  using Covered = std::vector<Entry *>;
  /// As above, and notes what `region` covers.
  template <class Visit> void lookup(const Region &region, Access access, Visit &&visit, Covered &covered) const {
    forEachOverlap(region, access, [&](Entry &entry) {
      if (covers(region, entry.region))
        covered.push_back(&entry);
      visit(entry.task());
    });
  }
  /// Forgets what lookups noted since, unless `retire` did already; whoever comes later waits for the writer, which
  /// waits for them.
  void supersede(const Covered &covered) {
    for (Entry *entry : covered)
      if (entry->linked)
        unlink(*entry);
  }
  /// As `insert`, for a read, or for a write whose lookups noted what it supersedes.
  void insertNoted(const Region &region, Access access, TaskId task);

  /// Remembers that `task` reads or writes `region`. A write supersedes everything that it covers. The caller has
  /// checked `hasRoom`; an empty region takes no entry.
  void insert(const Region &region, Access access, TaskId task);

  /// Not initialised by default: pages of a ring appear when their entries are used.
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
  /// The entry behind that at `place`, which comes next: fetched, since the ring is larger than the near caches.
  uint32_t after(const Ring &ring, uint32_t place) const {
    uint32_t next = place + 1 == ringCapacity ? 0 : place + 1;
    const char *soon = reinterpret_cast<const char *>(&ring.entries[std::min(next + 2, ringCapacity - 1)]);
    __builtin_prefetch(soon, 1);
    __builtin_prefetch(soon + 64, 1);
    return next;
  }
  static constexpr unsigned kLevels = 64;
  /// The part of `buckets` that is in use doubles when there are more entries than buckets: a small one stays in the
  /// cache.
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
