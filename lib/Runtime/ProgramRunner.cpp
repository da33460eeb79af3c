#include "ProgramRunner.h"

#include "pto_mlir/ByteCode/Serialize.h"

#include <algorithm>
#include <cstring>

namespace pto_mlir::runtime {

using namespace pto_mlir::pmodel;
using bytecode::KernelKey;
using bytecode::Tensor;
using bytecode::TensorPtr;
using bytecode::Type;
using bytecode::Value;

namespace {

/// A tensor over the bytes that a session made.
TensorPtr toValue(HostTensor tensor) {
  auto value = std::make_shared<Tensor>();
  value->element = tensor.type;
  value->shape.assign(tensor.shape.begin(), tensor.shape.end());
  value->bytes = tensor.bytes;
  value->data = std::move(tensor.data);
  return value;
}

InputTensor toInput(std::string_view name, const Tensor &tensor) {
  return {name, tensor.element, std::vector<uint64_t>(tensor.shape.begin(), tensor.shape.end()), tensor.data.get()};
}

/// A net as a kernel.
class NetKernel : public bytecode::Kernel {
public:
  explicit NetKernel(Session &session) : session(session) {}
  Status run(std::span<const Value> operands, std::span<Value> results) override {
    std::vector<InputTensor> inputs;
    for (size_t i = 0; i < operands.size(); ++i)
      inputs.push_back(toInput(session.inputs()[i].name, *operands[i].tensor));
    auto outputs = session.run(inputs);
    if (!outputs)
      return Failure{outputs.error()};
    for (size_t i = 0; i < results.size(); ++i)
      results[i] = Value::of(toValue(std::move((*outputs)[i])));
    return {};
  }

private:
  Session &session;
};

std::vector<TensorDesc> describe(const std::vector<std::string> &names, const std::vector<uint32_t> &types, const bytecode::Module &module) {
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

} // namespace

/// Nets of the file, each opened when the program is loaded; what is no net runs on the host.
class ProgramRunner::Provider : public bytecode::HostProvider {
public:
  Provider(std::string path, DeviceOptions device) : HostProvider([](const std::string &) {}), path(std::move(path)), device(std::move(device)) {}

  Result<std::shared_ptr<bytecode::Kernel>> resolve(const KernelKey &key, const std::string &name) override {
    if (key.place() != "device")
      return HostProvider::resolve(key, name);
    auto known = std::find_if(sessions.begin(), sessions.end(), [&](auto &session) { return session->net().name == key.op(); });
    if (known == sessions.end()) {
      SessionOptions options;
      options.device = device;
      options.net = std::string(key.op());
      auto session = Session::open(path, options);
      if (!session)
        return Failure{session.error()};
      known = sessions.insert(sessions.end(), session.take());
    }
    return std::shared_ptr<bytecode::Kernel>(std::make_shared<NetKernel>(**known));
  }

  std::string path;
  DeviceOptions device;
  std::vector<std::unique_ptr<Session>> sessions;
};

Result<std::unique_ptr<ProgramRunner>> ProgramRunner::open(const ModelFile &file, const DeviceOptions &device) {
  const HostProgramDesc &desc = *file.model().program;
  auto module = bytecode::deserialize(desc.code.data(), desc.code.size());
  if (!module)
    return Failure{module.error()};
  auto program = bytecode::Program::load(module.take());
  if (!program)
    return Failure{program.error()};
  auto provider = std::make_shared<Provider>(file.info().path, device);
  auto machine = bytecode::Machine::create(program.take(), provider);
  if (!machine)
    return Failure{machine.error()};
  std::unique_ptr<ProgramRunner> runner(new ProgramRunner(machine.take()));
  runner->provider = provider;
  const bytecode::Module &loaded = runner->machine.program().module();
  VariantDesc variant;
  variant.inputs = describe(desc.inputs, loaded.functions[0].parameters, loaded);
  variant.outputs = describe(desc.outputs, loaded.functions[0].results, loaded);
  runner->description.name = desc.name;
  if (!provider->sessions.empty())
    runner->description.quantize = provider->sessions.front()->net().quantize;
  runner->description.variants.push_back(std::move(variant));
  return runner;
}

const std::vector<std::unique_ptr<Session>> &ProgramRunner::sessions() const { return provider->sessions; }

Result<std::vector<HostTensor>> ProgramRunner::run(const std::vector<InputTensor> &inputs) {
  const VariantDesc &variant = description.variants.front();
  std::vector<Value> arguments;
  for (const TensorDesc &desc : variant.inputs) {
    auto input = std::find_if(inputs.begin(), inputs.end(), [&](const InputTensor &tensor) { return tensor.name == desc.name; });
    TensorPtr tensor = bytecode::makeTensor(input->type, std::vector<int64_t>(input->shape.begin(), input->shape.end()));
    if (!tensor)
      return Failure{"out of memory for input '" + desc.name + "'"};
    if (tensor->bytes)
      std::memcpy(tensor->data.get(), input->data, tensor->bytes);
    arguments.push_back(Value::of(std::move(tensor)));
  }
  auto results = machine.run(std::move(arguments));
  if (!results)
    return Failure{results.error()};
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < results->size(); ++i) {
    const Tensor &tensor = *(*results)[i].tensor;
    HostTensor output;
    output.name = variant.outputs[i].name;
    output.type = tensor.element;
    output.shape.assign(tensor.shape.begin(), tensor.shape.end());
    output.bytes = tensor.bytes;
    output.data.reset(new (std::nothrow) std::byte[tensor.bytes]);
    if (!output.data)
      return Failure{"out of memory for output '" + output.name + "'"};
    std::memcpy(output.data.get(), tensor.data.get(), tensor.bytes);
    outputs.push_back(std::move(output));
  }
  return outputs;
}

} // namespace pto_mlir::runtime
