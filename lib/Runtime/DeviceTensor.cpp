#include "DeviceTensor.h"

#include "pto_mlir/HostOps/HostOps.h"

#include <bit>

namespace pto_mlir::runtime {

namespace {

uint64_t bytesOf(ElementType type, uint64_t elements) { return *tensorBytes(type, {elements}); }

std::shared_ptr<std::byte[]> hostMemory(uint64_t bytes) {
  return std::shared_ptr<std::byte[]>(new (std::nothrow) std::byte[bytes]);
}

} // namespace

uint64_t elementsOf(const std::vector<int64_t> &shape) {
  uint64_t count = 1;
  for (int64_t size : shape)
    count *= uint64_t(size);
  return count;
}

DeviceBlock::~DeviceBlock() { memory.free[buffer.bytes()].push_back(std::move(buffer)); }

Result<std::shared_ptr<DeviceBlock>> TensorMemory::take(uint64_t bytes) {
  uint64_t size = std::bit_ceil(std::max<uint64_t>(bytes, 512));
  std::vector<DeviceBuffer> &list = free[size];
  if (!list.empty()) {
    auto block = std::make_shared<DeviceBlock>(*this, std::move(list.back()));
    list.pop_back();
    return block;
  }
  auto buffer = DeviceBuffer::make(device(), size, "a tensor of the program");
  if (!buffer)
    return buffer.failure();
  return std::make_shared<DeviceBlock>(*this, buffer.take());
}

Status TensorMemory::runRanks() {
  if (launches.empty())
    return {};
  Status status = launches.run(nullptr);
  launches.clear();
  return status;
}

Status TensorMemory::wait(pto_arg memory, bool isWrite) {
  if (launches.touch(memory, isWrite))
    return runRanks();
  if (!model.tasks)
    return device().synchronize();
  auto region = tasks::Tensor::dense(memory.address, 1, {int64_t(memory.bytes)});
  return isWrite ? model.tasks->waitToWrite(region) : model.tasks->waitToRead(region);
}

DeviceTensor::DeviceTensor(std::shared_ptr<DeviceBlock> block, uint64_t offset, uint64_t elements, ElementType type,
                           ElementType storage)
    : block(std::move(block)), offset(offset), elements(elements), storedBytes(bytesOf(storage, elements)), type(type),
      storage(storage) {}

Result<std::shared_ptr<DeviceTensor>> DeviceTensor::make(TensorMemory &memory, uint64_t elements, ElementType type,
                                                         ElementType storage) {
  auto block = memory.take(bytesOf(storage, elements));
  if (!block)
    return block.failure();
  return std::make_shared<DeviceTensor>(block.take(), 0, elements, type, storage);
}

Result<std::shared_ptr<DeviceTensor>> DeviceTensor::upload(TensorMemory &memory, const std::byte *data,
                                                           uint64_t elements, ElementType type, ElementType storage) {
  std::shared_ptr<std::byte[]> narrowed;
  if (type != storage) {
    narrowed = hostMemory(bytesOf(storage, elements));
    if (!narrowed)
      return Failure{"out of memory"};
    if (Status status = hostops::cast(data, type, narrowed.get(), storage, elements); !status)
      return status.failure();
    data = narrowed.get();
  }
  auto made = make(memory, elements, type, storage);
  if (!made)
    return made;
  pto_arg place = (*made)->memory();
  if (Status status = memory.wait(place, /*isWrite=*/true); !status)
    return status.failure();
  if (Status status = memory.device().copyToDevice(place.address, data, place.bytes); !status)
    return status.failure();
  return made;
}

std::shared_ptr<DeviceTensor> DeviceTensor::part(uint64_t begin, uint64_t count) const {
  auto part = std::make_shared<DeviceTensor>(block, offset + bytesOf(storage, begin), count, type, storage);
  part->isShared = isShared;
  return part;
}

Status DeviceTensor::copy(Device &device, pto_arg from, ElementType storage, std::byte *to, ElementType type,
                          uint64_t elements) {
  if (type == storage)
    return device.copyFromDevice(to, from.address, from.bytes);
  auto stored = hostMemory(from.bytes);
  if (!stored)
    return Failure{"out of memory"};
  if (Status status = device.copyFromDevice(stored.get(), from.address, from.bytes); !status)
    return status;
  return hostops::cast(stored.get(), storage, to, type, elements);
}

Result<std::shared_ptr<std::byte[]>> DeviceTensor::fetch() {
  if (host && !isShared)
    return host;
  if (Status status = block->memory.wait(memory(), /*isWrite=*/false); !status)
    return status.failure();
  auto bytes = hostMemory(bytesOf(type, elements));
  if (!bytes)
    return Failure{"out of memory"};
  if (Status status = copy(block->memory.device(), memory(), storage, bytes.get(), type, elements); !status)
    return status.failure();
  host = bytes;
  return bytes;
}

} // namespace pto_mlir::runtime
