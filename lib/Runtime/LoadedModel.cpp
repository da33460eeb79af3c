#include "LoadedModel.h"

#include <algorithm>

namespace pto_mlir::runtime {

using namespace pto_mlir::pmodel;

Status LoadedModel::start(const SessionOptions &options) {
  DeviceOptions deviceOptions = options.device;
  deviceOptions.processor = file->model().processor;
  auto opened = Device::open(deviceOptions);
  if (!opened)
    return opened.failure();
  device = opened.take();
  if (Status status = uploadWeights(); !status)
    return status;
  if (options.schedule == Schedule::Tasks && (device->runsCores() || device->timesCores())) {
    auto runtime = device->timesCores() ? makeVirtualRuntime(options.virtualBlocks, options.trace)
                                        : makeTaskRuntime(file->model().numCore, options.device.threads, options.trace);
    if (!runtime)
      return runtime.failure();
    tasks = runtime.take();
  }
  loaded.resize(file->model().kernels.size());
  return {};
}

Status LoadedModel::uploadWeights() {
  auto buffer = DeviceBuffer::make(*device, file->layout().totalBytes, "the weights");
  if (!buffer)
    return buffer.failure();
  weights = buffer.take();
  const std::vector<WeightDesc> &descs = file->model().weights;
  for (size_t i = 0; i < descs.size(); ++i) {
    if (Status status = file->checkWeight(i); !status)
      return status;
    if (Status status =
            device->copyToDevice(weights.address() + file->layout().offsets[i], descs[i].data, descs[i].size);
        !status)
      return status;
  }
  return {};
}

Result<uint32_t> LoadedModel::kernelHandle(uint32_t kernel) {
  if (!loaded[kernel]) {
    auto handle = device->loadKernel(file->model().kernels[kernel]);
    if (!handle)
      return handle.failure();
    loaded[kernel] = *handle;
  }
  return *loaded[kernel];
}

Result<std::unique_ptr<VM>> LoadedModel::prepare(const VariantDesc &variant, Ports ports) {
  const ModelDesc &model = file->model();
  for (uint32_t kernel : variant.program.kernels)
    if (auto handle = kernelHandle(kernel); !handle)
      return handle.failure();
  VM::KernelHandles handles(loaded.size());
  std::transform(loaded.begin(), loaded.end(), handles.begin(), [](auto &handle) { return handle.value_or(0); });
  auto vm = VM::prepare(*device, model, variant, handles, weights, ports);
  if (!vm)
    return vm.failure();
  auto made = std::make_unique<VM>(vm.take());
  if (tasks && !made->hasRanks())
    if (Status status = made->useTasks(*tasks, model); !status)
      return status.failure();
  return made;
}

} // namespace pto_mlir::runtime
