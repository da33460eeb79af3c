// Programs of several devices: their launches as one run of the device.
#include "VM.h"

#include <algorithm>

namespace pto_mlir::runtime {

using namespace pto_mlir::pmodel;

void VM::addRanks(const ModelDesc &model) {
  const DeviceBuffer *memory = workspace();
  uint64_t begin = memory ? memory->address() : 0, end = begin + windows;
  for (const Step &step : steps) {
    if (step.kind != Step::Launch)
      continue;
    const KernelDesc &kernel = model.kernels[step.modelKernel];
    KernelUse use = kernelUse(kernel);
    RankLaunch launch{step.rank,    step.kernel, step.blocks,  arguments(step),
                      step.scalars, kernel.name, step.tensors, use.cube};
    std::vector<bool> isWindow;
    isWindow.reserve(launch.arguments.size());
    for (const pto_arg &part : launch.arguments)
      isWindow.push_back(part.address >= begin && part.address < end);
    ranked->add(std::move(launch), use, isWindow);
  }
}

Status VM::runRanks() {
  std::vector<std::byte> zeros(std::min<uint64_t>(windows, uint64_t(1) << 20));
  for (uint64_t at = windowsKept && windowsHold ? windows : 0; at < windows; at += zeros.size())
    if (Status status = device->copyToDevice(workspace()->address() + at, zeros.data(),
                                             std::min<uint64_t>(windows - at, zeros.size()));
        !status)
      return status;
  ranked->clearTrace();
  windowsHold = false;
  Status status = ranked->run(watch);
  windowsHold = bool(status);
  return status;
}

} // namespace pto_mlir::runtime
