#include "pto_mlir/ByteCode/HostedProgram.h"

#include "pto_mlir/ByteCode/Machine.h"
#include "pto_mlir/ByteCode/Serialize.h"

#include <cstring>

namespace pto_mlir::bytecode {

namespace {

HostedTensor toHosted(const Tensor &tensor) {
  auto *bytes = reinterpret_cast<const char *>(tensor.data.get());
  return {tensor.element, tensor.shape, std::vector<char>(bytes, bytes + tensor.bytes)};
}

Result<Value> toValue(const HostedTensor &hosted) {
  TensorPtr tensor = makeTensor(hosted.element, hosted.shape);
  if (!tensor || tensor->bytes != hosted.bytes.size())
    return Failure{"a tensor has the wrong number of bytes, or there is no memory for it"};
  if (tensor->bytes)
    std::memcpy(tensor->data.get(), hosted.bytes.data(), tensor->bytes);
  return Value::of(std::move(tensor));
}

class CalledKernel : public Kernel {
public:
  CalledKernel(std::string name, const HostedKernel &kernel) : name(std::move(name)), kernel(kernel) {}
  Status run(std::span<const Value> operands, std::span<Value> results) override {
    std::vector<HostedTensor> given, made;
    for (const Value &operand : operands)
      given.push_back(toHosted(*operand.tensor));
    if (Status status = kernel(name, given, made); !status)
      return status;
    if (made.size() != results.size())
      return Failure{"gave " + std::to_string(made.size()) + " results"};
    for (size_t i = 0; i < made.size(); ++i) {
      auto value = toValue(made[i]);
      if (!value)
        return value.failure();
      results[i] = value.take();
    }
    return {};
  }

private:
  std::string name;
  const HostedKernel &kernel;
};

class HostedProvider : public HostProvider {
public:
  explicit HostedProvider(HostedKernel kernel) : HostProvider([](const std::string &) {}), kernel(std::move(kernel)) {}
  Result<std::shared_ptr<Kernel>> resolve(const KernelKey &key, const std::string &name) override {
    if (key.place() != "device")
      return HostProvider::resolve(key, name);
    for (const std::vector<Type> *types : {&key.operands, &key.results})
      for (const Type &type : *types)
        if (!type.isTensor)
          return Failure{name + " takes or gives a number"};
    return std::shared_ptr<Kernel>(std::make_shared<CalledKernel>(std::string(key.op()), kernel));
  }
  HostedKernel kernel;
};

} // namespace

struct HostedProgram::State {
  Machine machine;
};

HostedProgram::HostedProgram(std::unique_ptr<State> state) : state(std::move(state)) {}
HostedProgram::~HostedProgram() = default;

Result<std::unique_ptr<HostedProgram>> HostedProgram::load(const std::vector<uint8_t> &code, HostedKernel kernel) {
  auto module = deserialize(code.data(), code.size());
  if (!module)
    return module.failure();
  auto program = Program::load(module.take());
  if (!program)
    return program.failure();
  auto machine = Machine::create(program.take(), std::make_shared<HostedProvider>(std::move(kernel)));
  if (!machine)
    return machine.failure();
  return std::unique_ptr<HostedProgram>(new HostedProgram(std::make_unique<State>(State{machine.take()})));
}

Result<std::vector<HostedTensor>> HostedProgram::run(const std::vector<HostedTensor> &arguments) {
  std::vector<Value> values;
  for (const HostedTensor &argument : arguments) {
    auto value = toValue(argument);
    if (!value)
      return value.failure();
    values.push_back(value.take());
  }
  auto results = state->machine.run(std::move(values));
  if (!results)
    return results.failure();
  std::vector<HostedTensor> tensors;
  for (const Value &value : *results) {
    if (Status status = value.tensor->fetch(); !status)
      return status.failure();
    tensors.push_back(toHosted(*value.tensor));
  }
  return tensors;
}

} // namespace pto_mlir::bytecode
