#include "pto_mlir/TaskRuntime/TensorMap.h"

#include <algorithm>

namespace pto_mlir::tasks {

TensorMap::TensorMap(uint32_t capacity)
    : ringCapacity(capacity), smallestMask(std::bit_ceil(std::max<uint32_t>(64, capacity / 64)) - 1),
      largestMask(std::max(smallestMask, std::bit_ceil(capacity) - 1)) {
  for (Table &table : tables) {
    table.buckets.reset(new Entry *[size_t(largestMask) + 1]());
    table.mask = smallestMask;
  }
}

TensorMap::~TensorMap() = default;

unsigned TensorMap::levelOf(uint64_t span) {
  return span <= 1 ? 0 : std::min(unsigned(std::bit_width(span - 1)), kLevels - 1);
}

void TensorMap::linkInBucket(Table &table, Entry &entry) {
  entry.bucket = bucketOf(table, entry.level, entry.region.begin >> entry.level);
  Entry *&head = table.buckets[entry.bucket];
  entry.next = head;
  entry.previous = nullptr;
  if (head)
    head->previous = &entry;
  head = &entry;
}

void TensorMap::grow(Table &table) {
  table.mask = 2 * table.mask + 1;
  std::fill_n(table.buckets.get(), size_t(table.mask) + 1, nullptr);
  for (uint64_t levels = table.inUse; levels != 0; levels &= levels - 1)
    for (Entry *entry = table.entries[unsigned(std::countr_zero(levels))]; entry; entry = entry->levelNext)
      linkInBucket(table, *entry);
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
  if (--table.linked == 0)
    table.mask = smallestMask;
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
    // The covered entries are redundant: later tasks depend on this one, which depends on them.
    for (Access old : {Reader, Writer})
      forEachOverlap(region, old, [&](Entry &entry) {
        if (!(entry.task() == task) && covers(region, entry.region))
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
  if (table.linked++ > table.mask && table.mask < largestMask)
    grow(table);
  unsigned level = levelOf(region.span());
  Entry *newest = table.entries[level];
  entry = {region, task.value, 0, uint8_t(access), uint8_t(level), true, nullptr, nullptr, newest, nullptr};
  linkInBucket(table, entry);
  if (newest)
    newest->levelPrevious = &entry;
  table.entries[level] = &entry;
  ++table.count[level];
  table.inUse |= uint64_t(1) << level;
}

} // namespace pto_mlir::tasks
