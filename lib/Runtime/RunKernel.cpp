#include "pto_mlir/Runtime/RunKernel.h"

#include "pto_mlir/PModel/Reader.h"

#include <algorithm>

namespace pto_mlir::runtime {

using namespace pto_mlir::pmodel;

namespace {

Result<const KernelDesc *> findKernel(const ModelFile &file, const std::string &name) {
  const std::vector<KernelDesc> &kernels = file.model().kernels;
  auto it = std::find_if(kernels.begin(), kernels.end(), [&](const KernelDesc &kernel) { return kernel.name == name; });
  if (it != kernels.end())
    return &*it;
  std::string names;
  for (size_t i = 0; i < kernels.size() && i < 8; ++i)
    names += (i ? ", " : "") + kernels[i].name;
  return Failure{file.info().path +
                 (name.empty() ? ": choose a kernel by --kernel" : ": has no kernel '" + name + "'") + "; it has " +
                 names + (kernels.size() > 8 ? ", ..." : "")};
}

} // namespace

Result<pto_profile> runKernel(KernelRun &run) {
  auto file = ModelFile::open(run.model);
  if (!file)
    return Failure{file.error()};
  auto found = findKernel(**file, run.kernel);
  if (!found)
    return Failure{found.error()};
  const KernelDesc &kernel = **found;
  if (run.arguments.size() != kernel.numArgs)
    return Failure{"kernel '" + kernel.name + "' takes " + std::to_string(kernel.numArgs) + " arguments, got " +
                   std::to_string(run.arguments.size())};

  DeviceOptions options = run.device;
  options.processor = (*file)->model().processor;
  auto device = Device::open(options);
  if (!device)
    return Failure{device.error()};
  auto handle = (*device)->loadKernel(kernel);
  if (!handle)
    return Failure{handle.error()};
  std::vector<DeviceBuffer> buffers;
  std::vector<pto_arg> arguments;
  for (size_t i = 0; i < run.arguments.size(); ++i) {
    const std::vector<char> &data = run.arguments[i].data;
    auto buffer = DeviceBuffer::make(**device, data.size(), "argument " + std::to_string(i));
    if (!buffer)
      return Failure{buffer.error()};
    if (Status status = (*device)->copyToDevice(buffer->address(), data.data(), data.size()); !status)
      return Failure{status.error()};
    arguments.push_back({buffer->address(), buffer->bytes()});
    buffers.push_back(buffer.take());
  }
  if (Status status = (*device)->launch(*handle, run.blocks ? run.blocks : kernel.blocks, arguments, run.scalars);
      !status)
    return Failure{status.error()};
  if (Status status = (*device)->synchronize(); !status)
    return Failure{status.error()};
  for (size_t i = 0; i < run.arguments.size(); ++i) {
    std::vector<char> &data = run.arguments[i].data;
    if (Status status = (*device)->copyFromDevice(data.data(), buffers[i].address(), data.size()); !status)
      return Failure{status.error()};
  }
  return (*device)->profile(false);
}

} // namespace pto_mlir::runtime
