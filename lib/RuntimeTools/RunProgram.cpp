#include "RunProgram.h"

#include "pto_mlir/ByteCode/Machine.h"
#include "pto_mlir/ByteCode/Text.h"
#include "pto_mlir/Runtime/Npy.h"
#include "pto_mlir/Runtime/QueuedProvider.h"

#include <charconv>
#include <cstring>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>

namespace pto_mlir {

using namespace bytecode;

namespace {

Result<Value> readArgument(const std::string &text, const Type &type) {
  if (type.isTensor) {
    auto array = runtime::readNpy(text);
    if (!array)
      return array.failure();
    auto tensor = makeTensor(array->type, std::vector<int64_t>(array->shape.begin(), array->shape.end()));
    if (!tensor || tensor->bytes != array->data.size())
      return Failure{text + ": is too large"};
    std::memcpy(tensor->data.get(), array->data.data(), tensor->bytes);
    return Value::of(std::move(tensor));
  }
  auto parse = [&](auto value) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
  };
  if (type.kind() == Kind::Float) {
    if (auto value = parse(double()))
      return Value::number(type.width() == 32 ? double(float(*value)) : *value);
  } else if (auto value = parse(int64_t())) {
    return Value::integer(*value);
  }
  return Failure{"--arg '" + text + "' is not a value of type " + typeText(type)};
}

Status showResult(const Value &value, const Type &type, const std::string *file) {
  if (!type.isTensor) {
    if (type.kind() == Kind::Float)
      std::cout << value.asDouble() << "\n";
    else
      std::cout << value.bits << "\n";
    return {};
  }
  std::cout << typeText({value.tensor->element, true, value.tensor->shape}) << (file ? " -> " + *file : "") << "\n";
  if (!file)
    return {};
  runtime::NpyArray array;
  array.type = value.tensor->element;
  array.shape.assign(value.tensor->shape.begin(), value.tensor->shape.end());
  auto *data = reinterpret_cast<const char *>(value.tensor->data.get());
  array.data.assign(data, data + value.tensor->bytes);
  return runtime::writeNpy(*file, array);
}

} // namespace

Status runProgram(const ProgramRun &run) {
  std::ifstream file(run.path);
  std::stringstream text;
  if (!file || !(text << file.rdbuf()))
    return Failure{run.path + ": cannot be read"};
  auto module = assemble(text.str());
  if (!module)
    return Failure{run.path + ": " + module.error()};
  if (run.list) {
    std::cout << listing(*module) << "\n";
    return {};
  }
  auto program = Program::load(module.take());
  if (!program)
    return Failure{run.path + ": " + program.error()};
  const Module &loaded = program->module();
  if (loaded.target != "host")
    return Failure{run.path + ": is for target '" + loaded.target +
                   "'; pto-run runs target 'host', python -m pto_mlir.vm runs 'python'"};
  const Function &entry = loaded.functions[0];
  if (run.arguments.size() != entry.parameters.size())
    return Failure{run.path + ": @" + entry.name + " takes " + std::to_string(entry.parameters.size()) +
                   " arguments, got " + std::to_string(run.arguments.size())};
  std::vector<Value> arguments;
  for (size_t i = 0; i < run.arguments.size(); ++i) {
    auto value = readArgument(run.arguments[i], loaded.types[entry.parameters[i]]);
    if (!value)
      return value.failure();
    arguments.push_back(value.take());
  }
  std::mutex mutex; // launches may print concurrently
  auto print = [&mutex](const std::string &line) {
    std::lock_guard lock(mutex);
    std::cout << line << "\n";
  };
  std::shared_ptr<KernelProvider> provider = std::make_shared<HostProvider>(print);
  if (loaded.usedCapabilities() & kAsynchronous) {
    auto queued = runtime::QueuedProvider::make(std::move(provider), /*threads=*/0);
    if (!queued)
      return queued.failure();
    provider = queued.take();
  }
  auto machine = Machine::create(program.take(), provider);
  if (!machine)
    return Failure{run.path + ": " + machine.error()};
  if (run.trace)
    machine->trace([](const std::string &line) { std::cerr << line << "\n"; });
  auto results = machine->run(std::move(arguments));
  if (!results)
    return Failure{run.path + ": " + results.error()};
  const Module &types = machine->program().module();
  size_t tensors = 0;
  for (size_t i = 0; i < results->size(); ++i) {
    const Type &type = types.types[types.functions[0].results[i]];
    const std::string *output = type.isTensor && tensors < run.outputs.size() ? &run.outputs[tensors++] : nullptr;
    if (Status status = showResult((*results)[i], type, output); !status)
      return status;
  }
  return {};
}

} // namespace pto_mlir
