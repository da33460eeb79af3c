#include "Memory/GlobalMemory.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace pto_mlir::cmodel {

GlobalMemory::~GlobalMemory() {
  for (auto &[address, block] : blocks)
    std::free(block.storage);
}

uint64_t GlobalMemory::allocate(uint64_t bytes) {
  std::lock_guard lock(mutex);
  if (bytes > capacity - used)
    return 0;
  // calloc maps zero pages lazily, so untouched memory costs nothing.
  void *storage = std::calloc(1, std::max<uint64_t>(bytes, 1) + alignment);
  if (!storage)
    return 0;
  uint64_t address = (reinterpret_cast<uint64_t>(storage) + alignment) / alignment * alignment;
  blocks[address] = {bytes, storage};
  used += bytes;
  return address;
}

bool GlobalMemory::release(uint64_t address) {
  std::lock_guard lock(mutex);
  auto it = blocks.find(address);
  if (it == blocks.end())
    return false;
  std::free(it->second.storage);
  used -= it->second.bytes;
  blocks.erase(it);
  return true;
}

bool GlobalMemory::contains(uint64_t address, uint64_t bytes) const {
  std::shared_lock lock(mutex);
  auto it = blocks.upper_bound(address);
  if (it == blocks.begin())
    return false;
  --it;
  uint64_t offset = address - it->first;
  return offset <= it->second.bytes && bytes <= it->second.bytes - offset;
}

} // namespace pto_mlir::cmodel
