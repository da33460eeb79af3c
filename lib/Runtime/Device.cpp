#include "pto_mlir/Runtime/Device.h"

#include "pto_mlir/ISA/Table.h"

#include "CommandSources.h"
#include "Plugin.h"

#include <algorithm>

namespace pto_mlir::runtime {

namespace {
/// A fixed-size text field of the ABI; tolerates a missing terminator.
template <size_t N> std::string fieldText(const char (&field)[N]) {
  return std::string(field, std::find(field, field + N, '\0'));
}
} // namespace

Result<std::unique_ptr<Device>> Device::open(const DeviceOptions &options) {
  auto api = loadPlugin(options.device);
  if (!api)
    return api.failure();
  std::unique_ptr<Device> device(new Device(*api));
  pto_device_options raw = {options.processor.empty() ? nullptr : options.processor.c_str(), options.mode.c_str(),
                            options.threads};
  pto_status status = (*api)->open(&raw, &device->context);
  if (status != PTO_OK) {
    device->context = nullptr;
    return device->failure("cannot open", status);
  }
  const isa::ArchInfo *arch = options.processor.empty() ? &isa::defaultArch() : isa::findArch(options.processor);
  if (arch)
    device->dispatch = isa::chipInfo(arch->arch).dispatchSeconds;
  device->coreByCore = (*api)->run_core && options.mode == "functional";
  device->racesFound = (*api)->may_overlap && options.mode == "checked";
  if (options.mode.starts_with("timing:"))
    device->trace = options.mode.substr(std::string_view("timing:").size());
  device->coreTimes = (*api)->core_seconds && (options.mode == "timing" || options.mode.starts_with("timing:"));
  return device;
}

Device::Device(const pto_device_api *api) : api(api), sources(std::make_unique<CommandSources>()) {}

Device::~Device() {
  if (context)
    api->close(context); // flushes the trace
  if (!trace.empty())
    sources->nameInTrace(trace);
}

Failure Device::failure(const char *what, pto_status status) {
  std::string message = std::string("device '") + api->name + "': " + what;
  if (status == PTO_ERROR_FAULT && context) {
    pto_fault fault = {};
    api->fault(context, &fault);
    return Failure{message + ": " + faultText(fault)};
  }
  const char *reason = api->last_error(context);
  return Failure{message + ": " + (reason && *reason ? reason : "error " + std::to_string(status))};
}

std::string Device::faultText(const pto_fault &fault) const {
  std::string kernel = fieldText(fault.kernel), engine = fieldText(fault.engine);
  auto tensors = computes.find(kernel);
  std::string source = sources->find(kernel, engine, fault.word);
  return "kernel '" + kernel + "' faulted on " + engine + ", block " + std::to_string(fault.block) + ", word " +
         std::to_string(fault.word) + (source.empty() ? "" : " (" + source + ")") + ": " + fieldText(fault.kind) +
         ": " + sources->name(fieldText(fault.message), kernel, engine.substr(0, engine.rfind(' '))) +
         (tensors == computes.end() ? "" : tensors->second);
}

Result<uint64_t> Device::alloc(uint64_t bytes, const std::string &what) {
  uint64_t address = 0;
  pto_status status = api->alloc(context, std::max<uint64_t>(bytes, 1), &address);
  if (status != PTO_OK)
    return failure(("cannot allocate " + std::to_string(bytes) + " bytes for " + what).c_str(), status);
  return address;
}

void Device::free(uint64_t address) { (void)api->free(context, address); }

Status Device::copyToDevice(uint64_t address, const void *data, uint64_t bytes) {
  if (bytes == 0)
    return {};
  pto_status status = api->copy_to_device(context, address, data, bytes);
  return status == PTO_OK ? Status() : Status(failure("cannot copy to the device", status));
}

Status Device::copyFromDevice(void *data, uint64_t address, uint64_t bytes) {
  if (bytes == 0)
    return {};
  pto_status status = api->copy_from_device(context, data, address, bytes);
  return status == PTO_OK ? Status() : Status(failure("cannot copy from the device", status));
}

Result<uint32_t> Device::loadKernel(const pmodel::KernelDesc &kernel) {
  std::vector<pto_stream> streams;
  streams.reserve(kernel.streams.size());
  for (const pmodel::StreamDesc &stream : kernel.streams)
    streams.push_back({static_cast<uint32_t>(stream.coreKind), stream.pipe, stream.words.data(), stream.words.size()});
  pto_kernel_desc desc = {kernel.name.c_str(), streams.data(), streams.size(), kernel.numArgs};
  uint32_t handle = 0;
  pto_status status = api->load_kernel(context, &desc, &handle);
  if (status != PTO_OK)
    return failure(("cannot load kernel '" + kernel.name + "'").c_str(), status);
  sources->add(kernel);
  std::string &tensors = computes[kernel.name];
  for (const std::string &op : kernel.sourceOps)
    tensors += (tensors.empty() ? " (the kernel computes '" : ", '") + op + "'";
  if (!tensors.empty())
    tensors += ")";
  return handle;
}

Status Device::launch(uint32_t kernel, uint32_t blocks, const std::vector<pto_arg> &arguments,
                      const std::vector<int64_t> &scalars) {
  pto_status status =
      api->launch(context, kernel, blocks, arguments.data(), arguments.size(), scalars.data(), scalars.size());
  return status == PTO_OK ? Status() : Status(failure("cannot launch", status));
}

Status Device::mayOverlap(uint32_t task, std::span<const uint32_t> others) {
  pto_status status = api->may_overlap(context, task, others.data(), others.size());
  return status == PTO_OK ? Status() : Status(failure("cannot order a launch", status));
}

Status Device::runCore(uint32_t kernel, uint32_t blocks, uint32_t core, const std::vector<pto_arg> &arguments,
                       const std::vector<int64_t> &scalars) const {
  pto_fault fault = {};
  pto_status status = api->run_core(context, kernel, blocks, core, arguments.data(), arguments.size(), scalars.data(),
                                    scalars.size(), &fault);
  if (status == PTO_OK)
    return {};
  std::string begin = std::string("device '") + api->name + "': a launch failed: ";
  return Failure{begin + (status == PTO_ERROR_FAULT ? faultText(fault) : fieldText(fault.message))};
}

Status Device::runRanks(std::span<const pto_rank_launch> launches) {
  std::string begin = std::string("device '") + api->name + "': ";
  if (!api->run_ranks)
    return Failure{begin + "it is one device, and cannot run a program of several ranks"};
  pto_fault fault = {};
  pto_status status = api->run_ranks(context, launches.data(), launches.size(), &fault);
  if (status == PTO_OK)
    return {};
  return Failure{begin +
                 "a launch failed: " + (status == PTO_ERROR_FAULT ? faultText(fault) : fieldText(fault.message))};
}

Status Device::watchRanks(std::function<void(size_t, bool)> seen) {
  rankWatch = std::move(seen);
  if (!api->watch_ranks)
    return rankWatch ? Status(Failure{std::string("device '") + api->name + "': it does not say when launches begin"})
                     : Status();
  auto call = [](void *user, size_t launch, int ended) { static_cast<Device *>(user)->rankWatch(launch, ended != 0); };
  pto_status status = api->watch_ranks(context, rankWatch ? +call : nullptr, this);
  return status == PTO_OK ? Status() : Status(failure("launches cannot be watched", status));
}

Result<std::vector<std::pair<double, double>>> Device::rankSeconds(size_t count) {
  std::vector<std::pair<double, double>> times;
  if (!coreTimes || !api->rank_seconds)
    return times;
  std::vector<double> begins(count), ends(count);
  if (pto_status read = api->rank_seconds(context, begins.data(), ends.data(), count); read != PTO_OK)
    return failure("cannot read how long launches took", read);
  for (size_t i = 0; i < count; ++i)
    times.emplace_back(begins[i], ends[i]);
  return times;
}

Status Device::synchronize() {
  pto_status status = api->synchronize(context);
  return status == PTO_OK ? Status() : Status(failure("a launch failed", status));
}

Result<std::vector<double>> Device::timedLaunch(uint32_t kernel, uint32_t blocks, size_t cores,
                                                const std::vector<pto_arg> &arguments,
                                                const std::vector<int64_t> &scalars) {
  Status status = launch(kernel, blocks, arguments, scalars);
  if (status)
    status = synchronize();
  if (!status)
    return status.failure();
  std::vector<double> seconds(cores);
  if (pto_status read = api->core_seconds(context, seconds.data(), cores); read != PTO_OK)
    return failure("cannot read how long a launch took", read);
  return seconds;
}

Result<pto_profile> Device::kernelProfile(uint32_t kernel, bool reset) {
  pto_profile profile = {};
  pto_status status = api->kernel_profile(context, kernel, &profile, reset);
  if (status != PTO_OK)
    return failure("cannot read the profile of a kernel", status);
  return profile;
}

Result<pto_profile> Device::profile(bool reset) {
  pto_profile profile = {};
  pto_status status = api->profile(context, &profile, reset);
  if (status != PTO_OK)
    return failure("cannot read the profile", status);
  return profile;
}

Result<DeviceBuffer> DeviceBuffer::make(Device &device, uint64_t bytes, const std::string &what) {
  auto address = device.alloc(bytes, what);
  if (!address)
    return address.failure();
  DeviceBuffer buffer;
  buffer.device = &device;
  buffer.begin = *address;
  buffer.size = bytes;
  return buffer;
}

DeviceBuffer::~DeviceBuffer() {
  if (device)
    device->free(begin);
}

} // namespace pto_mlir::runtime
