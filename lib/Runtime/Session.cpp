#include "SessionState.h"

#include <algorithm>

namespace pto_mlir::runtime {

using namespace pto_mlir::pmodel;

namespace {

Result<const NetDesc *> findNet(const ModelFile &file, const std::string &name) {
  const std::vector<NetDesc> &nets = file.model().nets;
  std::string names;
  for (const NetDesc &net : nets) {
    if (net.name == name || (name.empty() && nets.size() == 1))
      return &net;
    names += (names.empty() ? "'" : ", '") + net.name + "'";
  }
  if (nets.empty())
    return Failure{file.info().path + ": has no net"};
  return Failure{file.info().path + ": " + (name.empty() ? "has several nets" : "has no net '" + name + "'") + ", choose one of " + names};
}

/// The named tensors in that order; all of them when no name is given.
Result<std::vector<HostTensor>> pick(Result<std::vector<HostTensor>> all, const std::vector<std::string> &names) {
  if (!all || names.empty())
    return all;
  std::vector<HostTensor> results;
  for (const std::string &name : names) {
    auto it = std::find_if(all->begin(), all->end(), [&](const HostTensor &tensor) { return tensor.name == name; });
    if (it == all->end() || !it->data)
      return Failure{"output '" + name + "' is asked for twice"};
    results.push_back(std::move(*it));
  }
  return results;
}

} // namespace

Session::Session(std::unique_ptr<State> state) : state(std::move(state)) {}
Session::~Session() = default;

const NetDesc &Session::net() const { return *state->net; }
const ModelFile &Session::file() const { return *state->file; }
const char *Session::deviceName() const {
  if (!state->runner)
    return state->device->name();
  return state->runner->sessions().empty() ? "host" : state->runner->sessions().front()->deviceName();
}

Result<std::unique_ptr<Session>> Session::open(const std::string &path, const SessionOptions &options) {
  auto file = ModelFile::open(path);
  if (!file)
    return Failure{file.error()};
  if (options.net.empty() && (*file)->model().program) {
    auto runner = ProgramRunner::open(**file, options.device);
    if (!runner)
      return Failure{(*file)->info().path + ": " + runner.error()};
    auto state = std::make_unique<State>();
    state->file = *file;
    state->runner = runner.take();
    state->net = &state->runner->net();
    return std::unique_ptr<Session>(new Session(std::move(state)));
  }
  auto net = findNet(**file, options.net);
  if (!net)
    return Failure{net.error()};
  auto state = std::make_unique<State>();
  state->file = *file;
  state->net = *net;
  if (Status status = state->start(options); !status)
    return Failure{status.error()};
  return std::unique_ptr<Session>(new Session(std::move(state)));
}

Status Session::State::start(const SessionOptions &options) {
  DeviceOptions deviceOptions = options.device;
  deviceOptions.processor = file->model().processor;
  auto opened = Device::open(deviceOptions);
  if (!opened)
    return Failure{opened.error()};
  device = opened.take();
  if (Status status = uploadWeights(); !status)
    return status;
  if (options.schedule == Schedule::Tasks && (device->runsCores() || device->timesCores())) {
    auto runtime = device->timesCores() ? makeVirtualRuntime(options.virtualBlocks, options.trace)
                                        : makeTaskRuntime(file->model().numCore, options.device.threads, options.trace);
    if (!runtime)
      return Failure{runtime.error()};
    tasks = runtime.take();
  }
  loaded.resize(file->model().kernels.size());
  programs.resize(net->variants.size());
  // Errors in the first variant show at once; further ones cost memory only when they are used.
  auto first = program(0);
  return first ? Status() : Status(Failure{first.error()});
}

Status Session::State::uploadWeights() {
  auto buffer = DeviceBuffer::make(*device, file->layout().totalBytes, "the weights");
  if (!buffer)
    return Failure{buffer.error()};
  weights = buffer.take();
  const std::vector<WeightDesc> &descs = file->model().weights;
  for (size_t i = 0; i < descs.size(); ++i) {
    if (Status status = file->checkWeight(i); !status)
      return status;
    if (Status status = device->copyToDevice(weights.address() + file->layout().offsets[i], descs[i].data, descs[i].size); !status)
      return status;
  }
  return {};
}

Result<VM *> Session::State::program(size_t index) {
  std::unique_ptr<VM> &program = programs[index];
  if (program)
    return program.get();
  const ModelDesc &model = file->model();
  const VariantDesc &variant = net->variants[index];
  for (uint32_t kernel : variant.program.kernels) {
    if (loaded[kernel])
      continue;
    auto handle = device->loadKernel(model.kernels[kernel]);
    if (!handle)
      return Failure{handle.error()};
    loaded[kernel] = *handle;
  }
  VM::KernelHandles handles(loaded.size());
  std::transform(loaded.begin(), loaded.end(), handles.begin(), [](auto &handle) { return handle.value_or(0); });
  auto vm = VM::prepare(*device, model, variant, handles, weights);
  if (!vm)
    return Failure{vm.error()};
  auto made = std::make_unique<VM>(vm.take());
  if (tasks)
    if (Status status = made->useTasks(*tasks, model); !status)
      return Failure{status.error()};
  program = std::move(made);
  return program.get();
}

Result<std::vector<HostTensor>> Session::run(const std::vector<InputTensor> &inputs, const std::vector<std::string> &names) {
  if (Status status = checkOutputs(names); !status)
    return Failure{status.error()};
  auto index = state->chooseVariant(inputs);
  if (!index)
    return Failure{index.error()};
  std::lock_guard lock(state->mutex);
  if (state->runner)
    return pick(state->runner->run(inputs), names);
  auto vm = state->program(*index);
  if (!vm)
    return Failure{vm.error()};
  const VariantDesc &variant = net().variants[*index];
  if (Status status = state->execute(**vm, variant, inputs); !status)
    return Failure{status.error()};
  std::vector<HostTensor> results;
  auto fetch = [&](size_t output) -> Status {
    auto tensor = state->fetchOutput(**vm, variant, output);
    if (!tensor)
      return Failure{tensor.error()};
    results.push_back(tensor.take());
    return {};
  };
  for (const std::string &name : names)
    for (size_t output = 0; output < variant.outputs.size(); ++output)
      if (variant.outputs[output].name == name)
        if (Status status = fetch(output); !status)
          return Failure{status.error()};
  for (size_t output = 0; names.empty() && output < variant.outputs.size(); ++output)
    if (Status status = fetch(output); !status)
      return Failure{status.error()};
  return results;
}

Result<std::vector<HostTensor>> Session::runWithDebug(const std::vector<InputTensor> &inputs) {
  std::lock_guard lock(state->mutex);
  auto results = run(inputs);
  if (!results)
    return results;
  if (state->runner)
    return results;
  auto index = state->chooseVariant(inputs);
  VM &vm = *state->programs[*index];
  for (const DebugTensorDesc &desc : net().variants[*index].debugTensors) {
    bool isOutput = std::any_of(results->begin(), results->end(), [&](auto &tensor) { return tensor.name == desc.name; });
    if (isOutput)
      continue;
    auto tensor = state->fetchDebugTensor(vm, desc);
    if (!tensor)
      return Failure{tensor.error()};
    results->push_back(tensor.take());
  }
  return results;
}

static Result<const tasks::Trace *> traceOf(const tasks::TaskRuntime *runtime) {
  if (!runtime)
    return Failure{"this session runs launches in order: there are no tasks to trace"};
  if (!runtime->config().trace)
    return Failure{"this session keeps no trace: open it with tracing on"};
  return &runtime->trace();
}

bool Session::traced() const { return bool(traceOf(state->tasks.get())); }

Status Session::writeTrace(const std::string &path) const {
  std::lock_guard lock(state->mutex);
  auto trace = traceOf(state->tasks.get());
  return trace ? (*trace)->writeJson(path) : Status(Failure{trace.error()});
}

Result<std::string> Session::traceReport() const {
  std::lock_guard lock(state->mutex);
  auto trace = traceOf(state->tasks.get());
  return trace ? Result<std::string>((*trace)->report()) : Failure{trace.error()};
}

Result<pto_profile> Session::profile(bool reset) {
  std::lock_guard lock(state->mutex);
  if (!state->runner)
    return state->device->profile(reset);
  pto_profile sum = {};
  for (const auto &session : state->runner->sessions()) {
    auto part = session->profile(reset);
    if (!part)
      return part;
    sum.launches += part->launches;
    sum.instructions += part->instructions;
    sum.gm_bytes_read += part->gm_bytes_read;
    sum.gm_bytes_written += part->gm_bytes_written;
    sum.host_seconds += part->host_seconds;
  }
  return sum;
}

Result<std::vector<KernelProfile>> Session::profileKernels(bool reset) {
  std::lock_guard lock(state->mutex);
  std::vector<KernelProfile> profiles;
  if (state->runner)
    for (const auto &session : state->runner->sessions()) {
      auto part = session->profileKernels(reset);
      if (!part)
        return part;
      profiles.insert(profiles.end(), part->begin(), part->end());
    }
  for (size_t i = 0; i < state->loaded.size(); ++i) {
    if (!state->loaded[i])
      continue;
    auto counts = state->device->kernelProfile(*state->loaded[i], reset);
    if (!counts)
      return Failure{counts.error()};
    profiles.push_back({state->file->model().kernels[i].name, *counts});
  }
  return profiles;
}

} // namespace pto_mlir::runtime
