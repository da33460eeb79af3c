#include "ProgramRunner.h"

#include "ProgramKernels.h"
#include "pto_mlir/ByteCode/Serialize.h"

#include <algorithm>
#include <cstring>

namespace pto_mlir::runtime {

using namespace pto_mlir::pmodel;
using bytecode::Tensor;
using bytecode::TensorPtr;
using bytecode::Type;
using bytecode::Value;

namespace {

std::vector<TensorDesc> describe(const std::vector<std::string> &names, const std::vector<uint32_t> &types,
                                 const bytecode::Module &module) {
  std::vector<TensorDesc> list;
  for (size_t i = 0; i < names.size(); ++i) {
    const Type &type = module.types[types[i]];
    TensorDesc desc;
    desc.name = names[i];
    desc.type = desc.storageType = type.element;
    for (int64_t size : type.shape)
      desc.shape.push_back(size == bytecode::kDynamic ? 0 : size);
    list.push_back(std::move(desc));
  }
  return list;
}

/// How the nets that a program calls use state; the verifier has seen that all of them do alike.
std::optional<StateUseDesc> stateUse(const ModelDesc &file, const bytecode::Module &module) {
  for (const bytecode::Constant &constant : module.constants)
    if (auto *key = std::get_if<bytecode::KernelKey>(&constant); key && key->place() == "device")
      for (const NetDesc &net : file.nets)
        if (net.name == key->op() && net.variants.front().state)
          return net.variants.front().state;
  return std::nullopt;
}

/// The strings of an input as their numbers.
Status intern(const InputTensor &input, hostops::StringTable &table, Tensor &tensor) {
  auto *texts = static_cast<const std::string_view *>(input.data);
  for (uint64_t i = 0; i < tensor.bytes / sizeof(uint64_t); ++i) {
    auto number = table.intern(texts[i]);
    if (!number)
      return Failure{"input '" + std::string(input.name) + "': " + number.error()};
    std::memcpy(tensor.data.get() + i * sizeof(uint64_t), &*number, sizeof(uint64_t));
  }
  return {};
}

Status takeStrings(const Tensor &tensor, const hostops::StringTable &table, HostTensor &output) {
  for (uint64_t i = 0; i < tensor.bytes / sizeof(uint64_t); ++i) {
    uint64_t number = 0;
    std::memcpy(&number, tensor.data.get() + i * sizeof(number), sizeof(number));
    auto text = table.text(number);
    if (!text)
      return Failure{"output '" + output.name + "': element " + std::to_string(i) + " is no string of this run"};
    output.strings.emplace_back(*text);
  }
  return {};
}

Result<HostTensor> toHost(Tensor &tensor, const std::string &name, const hostops::StringTable &table) {
  if (Status status = tensor.fetch(); !status)
    return Failure{"output '" + name + "': " + status.error()};
  HostTensor output;
  output.name = name;
  output.type = tensor.element;
  output.shape.assign(tensor.shape.begin(), tensor.shape.end());
  if (tensor.element == ElementType::String) {
    if (Status status = takeStrings(tensor, table, output); !status)
      return status.failure();
    return output;
  }
  output.bytes = tensor.bytes;
  output.data.reset(new (std::nothrow) std::byte[tensor.bytes]);
  if (!output.data)
    return Failure{"out of memory for output '" + name + "'"};
  if (tensor.bytes)
    std::memcpy(output.data.get(), tensor.data.get(), tensor.bytes);
  return output;
}

} // namespace

ProgramRunner::ProgramRunner() = default;
ProgramRunner::~ProgramRunner() = default;

Result<std::unique_ptr<ProgramRunner>> ProgramRunner::open(LoadedModel &model, const std::string &name) {
  const ModelDesc &file = model.file->model();
  std::unique_ptr<ProgramRunner> runner(new ProgramRunner());
  runner->model = &model;
  auto kernels = ProgramKernels::make(model);
  if (!kernels)
    return kernels.failure();
  runner->kernels = kernels.take();
  runner->description.name = name.empty() ? file.programs.front().name : name;
  if (!file.nets.empty())
    runner->description.quantize = file.nets.front().quantize;
  for (const HostProgramDesc &desc : file.programs) {
    if (desc.name != runner->description.name)
      continue;
    auto module = bytecode::deserialize(desc.code.data(), desc.code.size());
    if (!module)
      return module.failure();
    auto program = bytecode::Program::load(module.take());
    if (!program)
      return program.failure();
    auto machine = bytecode::Machine::create(program.take(), runner->kernels);
    if (!machine)
      return machine.failure();
    const bytecode::Module &loaded = machine->program().module();
    VariantDesc variant;
    variant.inputs = describe(desc.inputs, loaded.functions[0].parameters, loaded);
    variant.outputs = describe(desc.outputs, loaded.functions[0].results, loaded);
    for (TensorDesc &output : variant.outputs)
      output.preset = std::find(desc.presets.begin(), desc.presets.end(), output.name) != desc.presets.end();
    runner->presets.push_back(desc.presets);
    variant.state = stateUse(file, loaded);
    runner->description.variants.push_back(std::move(variant));
    runner->machines.push_back(machine.take());
  }
  return runner;
}

const tasks::Trace *ProgramRunner::rankTrace() const { return kernels->rankTrace(); }

Status ProgramRunner::forEachCalled(const std::function<Status(VM &, const VariantDesc &)> &visit) {
  return kernels->forEachCalled(visit);
}

Result<std::vector<HostTensor>> ProgramRunner::run(size_t index, const std::vector<InputTensor> &inputs,
                                                   ModelState::Impl *state) {
  const VariantDesc &variant = description.variants[index];
  kernels->strings().clear();
  std::vector<Value> arguments;
  auto add = [&](const TensorDesc &desc) -> Status {
    auto input =
        std::find_if(inputs.begin(), inputs.end(), [&](const InputTensor &tensor) { return tensor.name == desc.name; });
    const std::vector<uint64_t> &shape = input == inputs.end() ? desc.shape : input->shape;
    TensorPtr tensor = bytecode::makeTensor(desc.type, std::vector<int64_t>(shape.begin(), shape.end()));
    if (!tensor)
      return Failure{"out of memory for input '" + desc.name + "'"};
    if (desc.type == ElementType::String && input != inputs.end()) {
      if (Status status = intern(*input, kernels->strings(), *tensor); !status)
        return status;
    } else if (tensor->bytes && input != inputs.end())
      std::memcpy(tensor->data.get(), input->data, tensor->bytes);
    tensor->isConstant = true;
    arguments.push_back(Value::of(std::move(tensor)));
    return {};
  };
  for (const TensorDesc &desc : variant.inputs)
    if (Status status = add(desc); !status)
      return status.failure();
  for (const std::string &name : presets[index])
    if (Status status = add(*std::find_if(variant.outputs.begin(), variant.outputs.end(),
                                          [&](const TensorDesc &output) { return output.name == name; }));
        !status)
      return status.failure();
  kernels->beginRun(state);
  auto outputs = call(index, std::move(arguments));
  if (state) {
    std::vector<VM *> vms;
    Status visited = kernels->forEachCalled([&](VM &vm, const VariantDesc &called) {
      if (called.state)
        vms.push_back(&vm);
      return Status();
    });
    state->finish(outputs ? visited : outputs.failure(), vms, variant.state->rows);
  }
  return outputs;
}

Result<std::vector<HostTensor>> ProgramRunner::call(size_t index, std::vector<Value> arguments) {
  const VariantDesc &variant = description.variants[index];
  std::vector<HostTensor> outputs;
  auto execute = [&]() -> Status {
    auto results = machines[index].run(std::move(arguments));
    if (!results)
      return results.failure();
    if (Status ran = kernels->finishRanks(); !ran)
      return ran;
    for (size_t i = 0; i < results->size(); ++i) {
      auto output = toHost(*(*results)[i].tensor, variant.outputs[i].name, kernels->strings());
      if (!output)
        return output.failure();
      outputs.push_back(output.take());
    }
    return {};
  };
  Status status;
  if (model->tasks) {
    // One run for all calls, so that their tasks overlap with each other and with the program's own computation.
    Status finished = model->tasks->run([&](tasks::TaskRuntime &) { status = execute(); });
    if (std::string failed = kernels->failureText(); !failed.empty())
      return Failure{failed};
    if (status)
      status = finished;
  } else {
    status = execute();
    Status finished = model->device->synchronize();
    if (status)
      status = finished;
  }
  if (!status)
    return status.failure();
  return outputs;
}

} // namespace pto_mlir::runtime
