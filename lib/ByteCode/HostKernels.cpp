// Host kernels available to every program: print, math on scalars, rows of tensors.
#include "NumberText.h"
#include "TensorKernel.h"
#include "pto_mlir/ByteCode/Machine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <random>

namespace pto_mlir::bytecode {

namespace {

std::string valueText(const Type &type, const Value &value) {
  if (type.kind() == Kind::Integer)
    return std::to_string(value.bits);
  if (type.kind() == Kind::Float) {
    double number = value.asDouble();
    return std::isfinite(number) ? floatText(number) : std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf";
  }
  const Tensor &tensor = *value.tensor;
  std::string text = typeText({tensor.element, true, tensor.shape}) + " [";
  uint64_t count = 1;
  for (int64_t size : tensor.shape)
    count *= size;
  auto element = [&](uint64_t i) -> std::string {
    switch (tensor.element) {
    case ElementType::F32: {
      float number;
      std::memcpy(&number, tensor.data.get() + i * 4, 4);
      return valueText(Type::scalar(ElementType::F64), Value::number(number));
    }
    case ElementType::I32: {
      int32_t number;
      std::memcpy(&number, tensor.data.get() + i * 4, 4);
      return std::to_string(number);
    }
    case ElementType::I64: {
      int64_t number;
      std::memcpy(&number, tensor.data.get() + i * 8, 8);
      return std::to_string(number);
    }
    default:
      return "..";
    }
  };
  constexpr uint64_t shown = 8;
  for (uint64_t i = 0; i < count && i < shown; ++i)
    text += (i ? ", " : "") + element(i);
  return text + (count > shown ? ", ...]" : "]");
}

class Print : public Kernel {
public:
  Print(std::vector<Type> types, std::function<void(const std::string &)> sink)
      : types(std::move(types)), sink(std::move(sink)) {}
  Status run(std::span<const Value> operands, std::span<Value>) override {
    std::string line;
    for (size_t i = 0; i < operands.size(); ++i)
      line += (i ? " " : "") + valueText(types[i], operands[i]);
    sink(line);
    return {};
  }

private:
  std::vector<Type> types;
  std::function<void(const std::string &)> sink;
};

using Unary = double (*)(double);
using Binary = double (*)(double, double);
struct UnaryRow {
  std::string_view name;
  Unary function;
};
constexpr UnaryRow unaries[] = {
    {"absf", [](double x) { return std::fabs(x); }},
    {"acos", [](double x) { return std::acos(x); }},
    {"asin", [](double x) { return std::asin(x); }},
    {"atan", [](double x) { return std::atan(x); }},
    {"cbrt", [](double x) { return std::cbrt(x); }},
    {"ceil", [](double x) { return std::ceil(x); }},
    {"cos", [](double x) { return std::cos(x); }},
    {"cosh", [](double x) { return std::cosh(x); }},
    {"erf", [](double x) { return std::erf(x); }},
    {"exp", [](double x) { return std::exp(x); }},
    {"exp2", [](double x) { return std::exp2(x); }},
    {"expm1", [](double x) { return std::expm1(x); }},
    {"floor", [](double x) { return std::floor(x); }},
    {"log", [](double x) { return std::log(x); }},
    {"log10", [](double x) { return std::log10(x); }},
    {"log1p", [](double x) { return std::log1p(x); }},
    {"log2", [](double x) { return std::log2(x); }},
    {"round", [](double x) { return std::round(x); }},
    {"roundeven", [](double x) { return std::nearbyint(x); }},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
    {"sin", [](double x) { return std::sin(x); }},
    {"sinh", [](double x) { return std::sinh(x); }},
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"tan", [](double x) { return std::tan(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"trunc", [](double x) { return std::trunc(x); }},
};
struct BinaryRow {
  std::string_view name;
  Binary function;
};
constexpr BinaryRow binaries[] = {{"atan2", [](double x, double y) { return std::atan2(x, y); }},
                                  {"copysign", [](double x, double y) { return std::copysign(x, y); }},
                                  {"powf", [](double x, double y) { return std::pow(x, y); }}};

/// Computes in double and rounds to the result's type.
class ScalarMath : public Kernel {
public:
  ScalarMath(Unary unary, Binary binary, bool isFloat) : unary(unary), binary(binary), isFloat(isFloat) {}
  Status run(std::span<const Value> operands, std::span<Value> results) override {
    double value = unary ? unary(operands[0].asDouble()) : binary(operands[0].asDouble(), operands[1].asDouble());
    results[0] = Value::number(isFloat ? double(float(value)) : value);
    return {};
  }

private:
  Unary unary;
  Binary binary;
  bool isFloat;
};

/// append: adds a row to a tensor, to collect the results of loop iterations. The most recent result has spare
/// capacity, so that appending n rows is O(n).
class Append : public Kernel {
public:
  Status run(std::span<const Value> operands, std::span<Value> results) override {
    std::lock_guard lock(mutex);
    const Tensor &all = *operands[0].tensor, &row = *operands[1].tensor;
    if (!std::equal(all.shape.begin() + 1, all.shape.end(), row.shape.begin(), row.shape.end()))
      return Failure{"the rows have different shapes"};
    auto result = std::make_shared<Tensor>();
    result->element = all.element;
    result->shape = all.shape;
    ++result->shape[0];
    result->bytes = all.bytes + row.bytes;
    result->data = all.data;
    if (all.data != last.lock() || all.bytes != used || result->bytes > capacity) {
      capacity = std::max<uint64_t>(2 * result->bytes, 256);
      result->data.reset(new (std::nothrow) std::byte[capacity]);
      if (!result->data)
        return Failure{"cannot make a tensor with one row more"};
      if (all.bytes)
        std::memcpy(result->data.get(), all.data.get(), all.bytes);
      last = result->data;
    }
    if (row.bytes)
      std::memcpy(result->data.get() + all.bytes, row.data.get(), row.bytes);
    used = result->bytes;
    results[0] = Value::of(std::move(result));
    return {};
  }

private:
  std::mutex mutex; // queues run concurrently
  std::weak_ptr<std::byte[]> last;
  uint64_t used = 0, capacity = 0;
};

/// row: returns row i of a tensor.
class Row : public Kernel {
public:
  Status run(std::span<const Value> operands, std::span<Value> results) override {
    const Tensor &all = *operands[0].tensor;
    int64_t index = operands[1].bits;
    if (index < 0 || index >= all.shape[0])
      return Failure{"row " + std::to_string(index) + " of " + std::to_string(all.shape[0])};
    TensorPtr result = makeTensor(all.element, std::vector<int64_t>(all.shape.begin() + 1, all.shape.end()));
    if (!result)
      return Failure{"cannot make a row"};
    std::memcpy(result->data.get(), all.data.get() + index * result->bytes, result->bytes);
    results[0] = Value::of(std::move(result));
    return {};
  }
};

/// put: overwrites row i of a tensor allocated by the program.
class Put : public Kernel {
public:
  Status run(std::span<const Value> operands, std::span<Value>) override {
    const Tensor &all = *operands[0].tensor, &row = *operands[2].tensor;
    int64_t index = operands[1].bits;
    if (!std::equal(all.shape.begin() + 1, all.shape.end(), row.shape.begin(), row.shape.end()))
      return Failure{"the rows have different shapes"};
    if (index < 0 || index >= all.shape[0])
      return Failure{"row " + std::to_string(index) + " of " + std::to_string(all.shape[0])};
    operands[0].tensor->residence.reset();
    std::memcpy(all.data.get() + index * row.bytes, row.data.get(), row.bytes);
    return {};
  }
};

/// nonzero: the indices of non-zero elements, one column per element, in row-major order (ONNX NonZero).
class NonZero : public Kernel {
public:
  Status run(std::span<const Value> operands, std::span<Value> results) override {
    const Tensor &source = *operands[0].tensor;
    uint64_t size = elementBits(source.element) / 8, count = size ? source.bytes / size : 0;
    // Only the sign bit set is -0.
    bool isFloat = source.element == ElementType::F32 || source.element == ElementType::F16 ||
                   source.element == ElementType::BF16 || source.element == ElementType::F64 ||
                   source.element == ElementType::F8E4M3FN || source.element == ElementType::F8E5M2;
    bool hasNoZero = source.element == ElementType::F8E8M0;
    std::vector<uint64_t> found;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, source.data.get() + i * size, size);
      if (isFloat)
        bits &= ~(uint64_t(1) << (8 * size - 1));
      if (bits || hasNoZero)
        found.push_back(i);
    }
    int64_t rank = int64_t(source.shape.size());
    TensorPtr result = makeTensor(ElementType::I64, {rank, int64_t(found.size())});
    if (!result)
      return Failure{"cannot make a tensor of " + std::to_string(found.size()) + " indices"};
    for (size_t column = 0; column < found.size(); ++column) {
      uint64_t left = found[column];
      for (int64_t d = rank - 1; d >= 0; --d) {
        int64_t index = int64_t(left % uint64_t(source.shape[size_t(d)]));
        left /= uint64_t(source.shape[size_t(d)]);
        std::memcpy(result->data.get() + (uint64_t(d) * found.size() + column) * sizeof(index), &index, sizeof(index));
      }
    }
    results[0] = Value::of(std::move(result));
    return {};
  }
};

/// Whether `row` is a row of `all` for append, put and row: `all` has one more leading dimension, and elements are
/// whole bytes.
bool isRowOf(const Type &row, const Type &all) {
  return row.isTensor && all.isTensor && row.element == all.element && all.shape.size() == row.shape.size() + 1 &&
         elementBits(all.element) >= 8;
}

} // namespace

HostProvider::HostProvider(std::function<void(const std::string &)> print) : print(std::move(print)) {
  std::random_device device;
  entropy = uint64_t(device()) << 32 | device();
}

Result<std::shared_ptr<Kernel>> HostProvider::resolve(const KernelKey &key, const std::string &name) {
  if (key.callee == "host.print" && key.results.empty())
    return std::shared_ptr<Kernel>(std::make_shared<Print>(key.operands, print));
  if (key.callee == "host.append" && key.operands.size() == 2 && key.results.size() == 1 &&
      isRowOf(key.operands[1], key.operands[0]) && isRowOf(key.operands[1], key.results[0]))
    return std::shared_ptr<Kernel>(std::make_shared<Append>());
  if (key.callee == "host.row" && key.operands.size() == 2 && key.results.size() == 1 &&
      isRowOf(key.results[0], key.operands[0]) && key.operands[1] == Type::scalar(ElementType::I64))
    return std::shared_ptr<Kernel>(std::make_shared<Row>());
  if (key.callee == "host.put" && key.operands.size() == 3 && key.results.empty() &&
      isRowOf(key.operands[2], key.operands[0]) && key.operands[1] == Type::scalar(ElementType::I64))
    return std::shared_ptr<Kernel>(std::make_shared<Put>());
  if (key.callee == "host.nonzero" && key.operands.size() == 1 && key.results.size() == 1 && key.operands[0].isTensor &&
      key.results[0].isTensor && elementBits(key.operands[0].element) >= 8 &&
      key.results[0].element == ElementType::I64 &&
      key.results[0].shape == std::vector<int64_t>{int64_t(key.operands[0].shape.size()), kDynamic})
    return std::shared_ptr<Kernel>(std::make_shared<NonZero>());
  auto isFloat = [](const Type &type) { return type.kind() == Kind::Float; };
  bool scalars = key.place() == "host" && key.results.size() == 1 && isFloat(key.results[0]) && key.attributes.empty();
  for (const Type &type : key.operands)
    scalars = scalars && type == key.results[0];
  bool single = scalars && key.results[0].width() == 32;
  for (const UnaryRow &row : unaries)
    if (scalars && key.operands.size() == 1 && key.op() == row.name)
      return std::shared_ptr<Kernel>(std::make_shared<ScalarMath>(row.function, nullptr, single));
  for (const BinaryRow &row : binaries)
    if (scalars && key.operands.size() == 2 && key.op() == row.name)
      return std::shared_ptr<Kernel>(std::make_shared<ScalarMath>(nullptr, row.function, single));
  if (std::shared_ptr<Kernel> kernel = makeTensorKernel(key, table, entropy))
    return kernel;
  return Failure{"the host has no kernel " + name +
                 "; it has @host.print, math on floats (@host.exp, ..), @host.append, @host.put, @host.row, "
                 "@host.nonzero and operations on tensors (@host.add, ..); other targets bring kernels of "
                 "their own (python -m pto_mlir.vm)"};
}

} // namespace pto_mlir::bytecode
