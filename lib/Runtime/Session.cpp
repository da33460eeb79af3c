#include "SessionState.h"
#include "StateImpl.h"

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
  return Failure{file.info().path + ": " + (name.empty() ? "has several nets" : "has no net '" + name + "'") +
                 ", choose one of " + names};
}

/// Selects the named tensors in that order; all when `names` is empty.
Result<std::vector<HostTensor>> pick(Result<std::vector<HostTensor>> all, const std::vector<std::string> &names) {
  if (!all || names.empty())
    return all;
  std::vector<HostTensor> results;
  std::vector<bool> isTaken(all->size());
  for (const std::string &name : names) {
    auto it = std::find_if(all->begin(), all->end(), [&](const HostTensor &tensor) { return tensor.name == name; });
    if (it == all->end() || isTaken[size_t(it - all->begin())])
      return Failure{"output '" + name + "' is asked for twice"};
    isTaken[size_t(it - all->begin())] = true;
    results.push_back(std::move(*it));
  }
  return results;
}

} // namespace

Session::Session(std::shared_ptr<State> state) : state(std::move(state)) {}
Session::~Session() = default;

const NetDesc &Session::net() const { return *state->net; }
const ModelFile &Session::file() const { return *state->file; }
const char *Session::deviceName() const { return state->device->name(); }

Result<std::unique_ptr<Session>> Session::open(const std::string &path, const SessionOptions &options) {
  auto file = ModelFile::open(path);
  if (!file)
    return file.failure();
  auto state = std::make_shared<State>();
  state->file = *file;
  const std::vector<HostProgramDesc> &programs = (*file)->model().programs;
  bool isProgram = options.net.empty() ? !programs.empty()
                                       : std::any_of(programs.begin(), programs.end(),
                                                     [&](auto &program) { return program.name == options.net; });
  if (!isProgram) {
    auto net = findNet(**file, options.net);
    if (!net)
      return net.failure();
    state->net = *net;
  }
  if (Status status = state->start(options); !status)
    return status.failure();
  if (isProgram) {
    auto runner = ProgramRunner::open(*state, options.net);
    if (!runner)
      return Failure{path + ": " + runner.error()};
    state->runner = runner.take();
    state->net = &state->runner->net();
  } else {
    state->programs.resize(state->net->variants.size());
    // The first variant is prepared eagerly to report its errors; the others on first use, to save memory.
    if (auto first = state->program(0); !first)
      return first.failure();
  }
  return std::unique_ptr<Session>(new Session(std::move(state)));
}

Result<VM *> Session::State::program(size_t index) {
  std::unique_ptr<VM> &program = programs[index];
  if (!program) {
    auto made = prepare(net->variants[index], Ports::Own);
    if (!made)
      return made.failure();
    program = made.take();
  }
  return program.get();
}

const StateUseDesc *Session::State::stateUse() const {
  const std::optional<StateUseDesc> &use = net->variants.front().state;
  return use ? &*use : nullptr;
}

bool Session::hasState() const { return state->stateUse() != nullptr; }

Result<std::unique_ptr<ModelState>> Session::newState() {
  const StateUseDesc *use = state->stateUse();
  if (!use)
    return Failure{"net '" + net().name + "' has no state"};
  return ModelState::Impl::make(state, use->group);
}

Result<ModelState *> Session::ownState() {
  std::lock_guard lock(ownMutex);
  if (!own) {
    auto made = newState();
    if (!made)
      return made.failure();
    own = made.take();
  }
  return own.get();
}

Result<std::vector<HostTensor>> Session::run(const std::vector<InputTensor> &inputs,
                                             const std::vector<std::string> &names, ModelState *given) {
  if (Status status = checkOutputs(names); !status)
    return status.failure();
  auto index = state->chooseVariant(inputs);
  if (!index)
    return index.failure();
  const VariantDesc &variant = net().variants[*index];
  std::optional<StateClaim> claim;
  ModelState::Impl *memory = nullptr;
  if (variant.state || given) {
    auto chosen = chooseState(given);
    if (!chosen)
      return chosen.failure();
    memory = *chosen;
    auto claimed = StateClaim::take(*memory); // before waiting for another run
    if (!claimed)
      return claimed.failure();
    claim.emplace(claimed.take());
  }
  std::lock_guard lock(state->mutex);
  if (memory) {
    Status status = memory->mayRun(*variant.state);
    if (status)
      status = memory->writePosition();
    if (!status)
      return status.failure();
  }
  if (state->runner)
    return pick(state->runner->run(*index, inputs, memory), names);
  auto vm = state->program(*index);
  if (!vm)
    return vm.failure();
  if (memory)
    if (Status status = memory->bind(**vm); !status)
      return status.failure();
  if (Status status = state->feed(**vm, variant, inputs); !status)
    return status.failure();
  if (Status status = state->clearPresets(**vm, variant); !status)
    return status.failure();
  Status status = state->execute(**vm, variant);
  auto results = status ? state->fetchOutputs(**vm, variant, names) : status.failure();
  if (memory)
    memory->finish(results ? Status() : results.failure(), {&*vm, 1}, variant.state->rows);
  return results;
}

Result<std::vector<HostTensor>> Session::State::fetchOutputs(VM &vm, const VariantDesc &variant,
                                                             const std::vector<std::string> &names) {
  std::vector<HostTensor> results;
  auto fetch = [&](size_t output) -> Status {
    auto tensor = fetchOutput(vm, variant, output);
    if (!tensor)
      return tensor.failure();
    results.push_back(tensor.take());
    return {};
  };
  for (const std::string &name : names)
    for (size_t output = 0; output < variant.outputs.size(); ++output)
      if (variant.outputs[output].name == name)
        if (Status status = fetch(output); !status)
          return status.failure();
  for (size_t output = 0; names.empty() && output < variant.outputs.size(); ++output)
    if (Status status = fetch(output); !status)
      return status.failure();
  return results;
}

Result<ModelState::Impl *> Session::chooseState(ModelState *given) {
  if (!given) {
    auto mine = ownState();
    return mine ? Result<ModelState::Impl *>((*mine)->impl.get()) : mine.failure();
  }
  if (!hasState())
    return Failure{"net '" + net().name + "' has no state"};
  if (given->impl->model.get() != state.get())
    return Failure{"state '" + given->group().name + "' was made by another session"};
  return given->impl.get();
}

Result<std::vector<HostTensor>> Session::runWithDebug(const std::vector<InputTensor> &inputs, ModelState *given) {
  std::lock_guard lock(state->mutex);
  auto results = run(inputs, {}, given);
  if (!results)
    return results;
  auto fetch = [&](VM &vm, const VariantDesc &variant) { return state->fetchDebugTensors(vm, variant, *results); };
  Status status;
  if (state->runner) {
    status = state->runner->forEachCalled(fetch);
  } else {
    size_t index = *state->chooseVariant(inputs);
    status = fetch(*state->programs[index], net().variants[index]);
  }
  if (!status)
    return status.failure();
  return results;
}

static Result<const tasks::Trace *> traceOf(const tasks::TaskRuntime *runtime, const tasks::Trace *ranked) {
  if (ranked)
    return ranked;
  if (!runtime)
    return Failure{"this session runs launches in order: there are no tasks to trace"};
  if (!runtime->config().trace)
    return Failure{"this session keeps no trace: open it with tracing on"};
  return &runtime->trace();
}

void Session::keepWindows(bool keeps) {
  std::lock_guard lock(state->mutex);
  state->windowsKept = keeps;
}

void Session::watchLaunches(LaunchWatch seen) {
  std::lock_guard lock(state->mutex);
  state->watch = std::move(seen);
}

bool Session::traced() const { return bool(traceOf(state->tasks.get(), state->rankTrace())); }

Status Session::writeTrace(const std::string &path) const {
  std::lock_guard lock(state->mutex);
  auto trace = traceOf(state->tasks.get(), state->rankTrace());
  return trace ? (*trace)->writeJson(path) : Status(trace.failure());
}

Result<std::string> Session::traceReport() const {
  std::lock_guard lock(state->mutex);
  auto trace = traceOf(state->tasks.get(), state->rankTrace());
  return trace ? Result<std::string>((*trace)->report()) : trace.failure();
}

Result<pto_profile> Session::profile(bool reset) {
  std::lock_guard lock(state->mutex);
  return state->device->profile(reset);
}

Result<std::vector<KernelProfile>> Session::profileKernels(bool reset) {
  std::lock_guard lock(state->mutex);
  std::vector<KernelProfile> profiles;
  for (size_t i = 0; i < state->loaded.size(); ++i) {
    if (!state->loaded[i])
      continue;
    auto counts = state->device->kernelProfile(*state->loaded[i], reset);
    if (!counts)
      return counts.failure();
    profiles.push_back({state->file->model().kernels[i].name, state->file->model().kernels[i].sourceOps, *counts});
  }
  return profiles;
}

} // namespace pto_mlir::runtime
