#include "TensorKernel.h"

#include "pto_mlir/HostOps/TensorOps.h"

#include <algorithm>
#include <atomic>

namespace pto_mlir::bytecode {

namespace {

hostops::Parameter parameterOf(const AttributeValue &value) {
  if (auto *list = std::get_if<std::vector<Number>>(&value)) {
    std::vector<int64_t> numbers;
    for (const Number &number : *list)
      numbers.push_back(std::holds_alternative<int64_t>(number) ? std::get<int64_t>(number)
                                                                : int64_t(std::get<double>(number)));
    return numbers;
  }
  if (auto *integer = std::get_if<int64_t>(&value))
    return *integer;
  if (auto *number = std::get_if<double>(&value))
    return *number;
  return std::get<std::string>(value);
}

class TensorKernel : public Kernel {
public:
  TensorKernel(const KernelKey &key, std::shared_ptr<hostops::StringTable> strings, uint64_t entropy)
      : name(key.op()), result(key.results.front()), strings(std::move(strings)), entropy(entropy) {
    for (const auto &[attribute, value] : key.attributes)
      parameters.emplace(attribute, parameterOf(value));
  }

  Status run(std::span<const Value> operands, std::span<Value> results) override {
    std::vector<hostops::TensorView> inputs;
    for (const Value &operand : operands)
      inputs.push_back({operand.tensor->element, operand.tensor->shape, operand.tensor->data.get()});
    TensorPtr made;
    bool fits = true;
    auto allocate = [&](const std::vector<int64_t> &shape) -> std::byte * {
      fits = std::equal(shape.begin(), shape.end(), result.shape.begin(), result.shape.end(),
                        [](int64_t size, int64_t declared) { return declared == kDynamic || size == declared; });
      made = fits ? makeTensor(result.element, shape) : nullptr;
      return made ? made->data.get() : nullptr;
    };
    hostops::Draw draw{entropy, calls.fetch_add(1)};
    Status status = hostops::runTensorOp({name, inputs, parameters, result.element, allocate, strings.get(), &draw});
    if (!fits)
      return Failure{"@host." + name + " gives another shape than its declared type"};
    if (!status)
      return Failure{"@host." + name + ": " + status.error()};
    results[0] = Value::of(std::move(made));
    return {};
  }

private:
  std::string name;
  Type result;
  hostops::Parameters parameters;
  std::shared_ptr<hostops::StringTable> strings;
  uint64_t entropy;
  std::atomic<uint64_t> calls = 0; // queues run concurrently
};

} // namespace

std::shared_ptr<Kernel> makeTensorKernel(const KernelKey &key, std::shared_ptr<hostops::StringTable> strings,
                                         uint64_t entropy) {
  auto isTensor = [](const Type &type) { return type.isTensor; };
  if (key.place() != "host" || key.results.size() != 1 || !isTensor(key.results[0]) ||
      !hostops::hasTensorType(key.results[0].element) ||
      !std::all_of(key.operands.begin(), key.operands.end(), isTensor))
    return nullptr;
  std::vector<ElementType> operands(key.operands.size());
  std::transform(key.operands.begin(), key.operands.end(), operands.begin(),
                 [](const Type &type) { return type.element; });
  return hostops::hasTensorOp(key.op(), operands) ? std::make_shared<TensorKernel>(key, std::move(strings), entropy)
                                                  : nullptr;
}

} // namespace pto_mlir::bytecode
