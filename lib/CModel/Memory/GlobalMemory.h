// Global memory of a device context: host memory whose host addresses are the device addresses.
#ifndef PTO_MLIR_CMODEL_GLOBALMEMORY_H
#define PTO_MLIR_CMODEL_GLOBALMEMORY_H

#include <cstdint>
#include <map>
#include <shared_mutex>

namespace pto_mlir::cmodel {

/// The allocations of a device, 64 GiB at most. Thread-safe: a host program makes tensors while cores run.
class GlobalMemory {
public:
  GlobalMemory() = default;
  GlobalMemory(const GlobalMemory &) = delete;
  GlobalMemory &operator=(const GlobalMemory &) = delete;
  ~GlobalMemory();

  /// A zero-filled allocation aligned to 512 bytes; 0 if the capacity is exceeded.
  uint64_t allocate(uint64_t bytes);
  /// Frees an allocation; false if `address` is not the start of one.
  bool release(uint64_t address);
  /// Whether [address, address + bytes) lies within one allocation.
  bool contains(uint64_t address, uint64_t bytes) const;

private:
  static constexpr uint64_t alignment = 512, capacity = uint64_t(64) << 30; // the HBM of one card
  struct Block {
    uint64_t bytes;
    void *storage;
  };
  mutable std::shared_mutex mutex;  // guards the following
  std::map<uint64_t, Block> blocks; // by address
  uint64_t used = 0;
};

} // namespace pto_mlir::cmodel

#endif
