// Program tensors in device memory.
#ifndef PTO_MLIR_LIB_RUNTIME_DEVICETENSOR_H
#define PTO_MLIR_LIB_RUNTIME_DEVICETENSOR_H

#include "LoadedModel.h"
#include "RankLaunches.h"
#include "pto_mlir/ByteCode/Machine.h"

#include <unordered_map>

namespace pto_mlir::runtime {

class TensorMemory;

/// Of a shape without unknown extents.
uint64_t elementsOf(const std::vector<int64_t> &shape);

/// A buffer that is returned to its pool by the destructor.
struct DeviceBlock {
  DeviceBlock(TensorMemory &memory, DeviceBuffer buffer) : memory(memory), buffer(std::move(buffer)) {}
  ~DeviceBlock();
  TensorMemory &memory;
  DeviceBuffer buffer;
};

/// A pool of device buffers for a program's tensors. Buffers are reused while earlier accesses are pending: the task
/// runtime orders accesses to the same memory, and without it launches run in order.
class TensorMemory {
public:
  explicit TensorMemory(LoadedModel &model) : model(model), launches(*model.device) {}
  Result<std::shared_ptr<DeviceBlock>> take(uint64_t bytes);
  /// Waits until the host may read (`isWrite`: overwrite) the memory.
  Status wait(pto_arg memory, bool isWrite);
  Device &device() { return *model.device; }
  LoadedModel &loaded() { return model; }
  /// Of a program of several devices: what it has launched, and nobody has waited for yet.
  RankLaunches &ranked() { return launches; }
  /// Runs these to their end.
  Status runRanks();

private:
  friend struct DeviceBlock;
  LoadedModel &model;
  RankLaunches launches;
  std::unordered_map<uint64_t, std::vector<DeviceBuffer>> free; // by size
};

/// A tensor in part of a block; stored as another type where the device does not support the tensor's type.
class DeviceTensor : public bytecode::Residence {
public:
  DeviceTensor(std::shared_ptr<DeviceBlock> block, uint64_t offset, uint64_t elements, ElementType type,
               ElementType storage);
  /// Copies host data of `type` to the device, converted to `storage`.
  static Result<std::shared_ptr<DeviceTensor>> upload(TensorMemory &memory, const std::byte *data, uint64_t elements,
                                                      ElementType type, ElementType storage);
  static Result<std::shared_ptr<DeviceTensor>> make(TensorMemory &memory, uint64_t elements, ElementType type,
                                                    ElementType storage);

  Result<std::shared_ptr<std::byte[]>> fetch() override;
  bool mayChange() const override { return isShared; }
  /// Says that tasks may write the tensor again, and its parts.
  void share() { isShared = true; }
  /// A view of elements [begin, begin + count).
  std::shared_ptr<DeviceTensor> part(uint64_t begin, uint64_t count) const;
  pto_arg memory() const { return {block->buffer.address() + offset, storedBytes}; }
  ElementType hostType() const { return type; }
  ElementType storageType() const { return storage; }
  uint64_t numElements() const { return elements; }
  /// Copies `elements` elements from device to host memory, converted to `type`. Thread-safe; their producer must have
  /// completed.
  static Status copy(Device &device, pto_arg from, ElementType storage, std::byte *to, ElementType type,
                     uint64_t elements);

private:
  std::shared_ptr<DeviceBlock> block;
  uint64_t offset, elements, storedBytes;
  ElementType type, storage;
  bool isShared = false;
  std::shared_ptr<std::byte[]> host;
};

} // namespace pto_mlir::runtime

#endif
