#include "pto_mlir/TaskRuntime/TensorMap.h"

#include <algorithm>

namespace pto_mlir::tasks {

TensorMap::TensorMap(uint32_t capacity) : ringCapacity(capacity) {
  // Few entries are linked at a time: writes supersede. A small table stays in the cache.
  for (Table &table : tables)
    table.buckets.resize(std::bit_ceil(std::max<size_t>(64, capacity / 16)));
}

TensorMap::~TensorMap() = default;

unsigned TensorMap::levelOf(uint64_t span) { return span <= 1 ? 0 : std::min(unsigned(std::bit_width(span - 1)), kLevels - 1); }

uint32_t TensorMap::bucketOf(unsigned level, uint64_t cell) const {
  uint64_t hash = (cell ^ uint64_t(level) << 58) * 0x9e3779b97f4a7c15ull;
  return uint32_t(hash >> 32) & uint32_t(buckets() - 1);
}

void TensorMap::unlink(Entry &entry) {
  Table &table = tables[entry.access];
  (entry.previous ? entry.previous->next : table.buckets[entry.bucket]) = entry.next;
  if (entry.next)
    entry.next->previous = entry.previous;
  (entry.levelPrevious ? entry.levelPrevious->levelNext : table.entries[entry.level]) = entry.levelNext;
  if (entry.levelNext)
    entry.levelNext->levelPrevious = entry.levelPrevious;
  if (--table.count[entry.level] == 0)
    table.inUse &= ~(uint64_t(1) << entry.level);
  entry.linked = false;
}

void TensorMap::prepare(unsigned ring) {
  if (!rings[ring].entries)
    rings[ring].entries.reset(new Entry[ringCapacity]);
}

void TensorMap::insert(const Region &region, Access access, TaskId task) {
  if (region.empty())
    return;
  if (access == Writer)
    // Whoever comes later waits for this task, which waits for everything that it covers.
    for (Access old : {Reader, Writer})
      forEachOverlap(region, old, [&](Entry &entry) {
        if (!(entry.task == task) && covers(region, entry.region))
          unlink(entry);
      });
  insertNoted(region, access, task);
}

void TensorMap::insertNoted(const Region &region, Access access, TaskId task) {
  if (region.empty())
    return;
  Ring &ring = rings[task.ring()];
  Entry &entry = ring.entries[ring.topPlace];
  ++ring.top;
  ring.topPlace = after(ring, ring.topPlace);
  Table &table = tables[access];
  unsigned level = levelOf(region.span());
  uint32_t bucket = bucketOf(level, region.begin >> level);
  Entry *head = table.buckets[bucket], *newest = table.entries[level];
  entry = {region, task, bucket, uint8_t(access), uint8_t(level), true, head, nullptr, newest, nullptr};
  if (head)
    head->previous = &entry;
  if (newest)
    newest->levelPrevious = &entry;
  table.buckets[bucket] = table.entries[level] = &entry;
  ++table.count[level];
  table.inUse |= uint64_t(1) << level;
}

} // namespace pto_mlir::tasks
