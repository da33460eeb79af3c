#include "pto_mlir/Runtime/RunKernel.h"

#include "pto_mlir/PModel/KernelUse.h"
#include "pto_mlir/PModel/Reader.h"

#include <algorithm>

namespace pto_mlir::runtime {

using namespace pto_mlir::pmodel;

namespace {

Result<const KernelDesc *> findKernel(const ModelFile &file, const std::string &name) {
  const std::vector<KernelDesc> &kernels = file.model().kernels;
  if (name.empty() && kernels.size() == 1)
    return &kernels.front();
  auto it = std::find_if(kernels.begin(), kernels.end(), [&](const KernelDesc &kernel) { return kernel.name == name; });
  if (it != kernels.end())
    return &*it;
  std::string names;
  for (size_t i = 0; i < kernels.size() && i < 8; ++i)
    names += (i ? ", " : "") + kernels[i].name;
  return Failure{file.info().path + (name.empty() ? ": choose a kernel" : ": has no kernel '" + name + "'") +
                 "; it has " + names + (kernels.size() > 8 ? ", ..." : "")};
}

} // namespace

KernelSession::KernelSession(std::shared_ptr<const ModelFile> file, const KernelDesc &kernel,
                             std::unique_ptr<Device> device, uint32_t handle)
    : file(std::move(file)), desc(kernel), device(std::move(device)), handle(handle) {
  for (const KernelUse::Argument &argument : kernelUse(kernel).arguments)
    writes.push_back(argument.written);
}

KernelSession::~KernelSession() = default;

Result<std::unique_ptr<KernelSession>> KernelSession::open(const std::string &model, const std::string &name,
                                                           DeviceOptions options) {
  auto file = ModelFile::open(model);
  if (!file)
    return file.failure();
  auto kernel = findKernel(**file, name);
  if (!kernel)
    return kernel.failure();
  options.processor = (*file)->model().processor;
  auto device = Device::open(options);
  if (!device)
    return device.failure();
  auto handle = (*device)->loadKernel(**kernel);
  if (!handle)
    return handle.failure();
  return std::unique_ptr<KernelSession>(new KernelSession(file.take(), **kernel, device.take(), *handle));
}

Status KernelSession::run(std::span<const KernelMemory> memory, const std::vector<int64_t> &scalars, uint32_t blocks) {
  if (memory.size() != desc.numArgs)
    return Failure{"kernel '" + desc.name + "' takes " + std::to_string(desc.numArgs) + " arguments, got " +
                   std::to_string(memory.size()) +
                   (scalars.empty() ? "" : "; numbers are counted apart: " + std::to_string(scalars.size()))};
  std::lock_guard lock(mutex);
  std::vector<DeviceBuffer> buffers;
  std::vector<pto_arg> arguments;
  for (const KernelMemory &part : memory) {
    auto buffer = DeviceBuffer::make(*device, part.bytes, "argument " + std::to_string(buffers.size()));
    if (!buffer)
      return buffer.failure();
    if (Status status = device->copyToDevice(buffer->address(), part.data, part.bytes); !status)
      return status.failure();
    arguments.push_back({buffer->address(), buffer->bytes()});
    buffers.push_back(buffer.take());
  }
  if (Status status = device->launch(handle, blocks ? blocks : desc.blocks, arguments, scalars); !status)
    return status;
  if (Status status = device->synchronize(); !status)
    return status;
  for (size_t i = 0; i < memory.size(); ++i) {
    if (!writes[i])
      continue;
    if (Status status = device->copyFromDevice(memory[i].data, buffers[i].address(), memory[i].bytes); !status)
      return status;
  }
  return {};
}

Result<pto_profile> KernelSession::profile() {
  std::lock_guard lock(mutex);
  return device->profile(false);
}

Result<pto_profile> runKernel(KernelRun &run) {
  auto session = KernelSession::open(run.model, run.kernel, run.device);
  if (!session)
    return session.failure();
  std::vector<KernelMemory> memory;
  memory.reserve(run.arguments.size());
  for (NpyArray &array : run.arguments)
    memory.push_back({array.data.data(), array.data.size()});
  if (Status status = (*session)->run(memory, run.scalars, run.blocks); !status)
    return status.failure();
  run.kernel = (*session)->kernel().name;
  return (*session)->profile();
}

} // namespace pto_mlir::runtime
