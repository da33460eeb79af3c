// Checks inputs and copies tensors between the caller and the device.
#include "IndexCheck.h"
#include "SessionState.h"

#include "pto_mlir/HostOps/HostOps.h"
#include "pto_mlir/PModel/Sizes.h"

#include <algorithm>
#include <cstring>

namespace pto_mlir::runtime {

using namespace pto_mlir::pmodel;

namespace {

std::string tensorText(ElementType type, const std::vector<uint64_t> &shape) {
  return std::string(elementTypeName(type)) + " " + shapeText(shape);
}

/// What an input is declared as; ? for an extent that the run says.
std::string declaredText(const TensorDesc &desc) {
  if (std::find(desc.shape.begin(), desc.shape.end(), 0) == desc.shape.end())
    return tensorText(desc.type, desc.shape);
  std::string text = std::string(elementTypeName(desc.type)) + " ";
  for (size_t axis = 0; axis < desc.shape.size(); ++axis)
    text += (axis ? "x" : "") + (desc.shape[axis] ? std::to_string(desc.shape[axis]) : "?");
  return text;
}

const TensorDesc *findTensor(const std::vector<TensorDesc> &tensors, std::string_view name) {
  auto it = std::find_if(tensors.begin(), tensors.end(), [&](const TensorDesc &tensor) { return tensor.name == name; });
  return it == tensors.end() ? nullptr : &*it;
}

const InputTensor *findInput(const std::vector<InputTensor> &inputs, std::string_view name) {
  auto it = std::find_if(inputs.begin(), inputs.end(), [&](const InputTensor &input) { return input.name == name; });
  return it == inputs.end() ? nullptr : &*it;
}

std::string nameList(const std::vector<TensorDesc> &tensors) {
  std::string names;
  for (const TensorDesc &tensor : tensors)
    names += (names.empty() ? "'" : ", '") + tensor.name + "'";
  return names;
}

/// Checks names and types, which all variants share.
Status checkNames(const std::vector<TensorDesc> &expected, const std::vector<InputTensor> &inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorDesc *desc = findTensor(expected, inputs[i].name);
    std::string name(inputs[i].name);
    if (!desc)
      return Failure{"the net has no input '" + name + "', it expects " + nameList(expected)};
    if (findInput(inputs, inputs[i].name) != &inputs[i])
      return Failure{"input '" + name + "' is given twice"};
    if (inputs[i].type != desc->type)
      return Failure{"input '" + name + "': expects " + declaredText(*desc) + ", got " +
                     tensorText(inputs[i].type, inputs[i].shape)};
  }
  for (const TensorDesc &desc : expected)
    if (!findInput(inputs, desc.name))
      return Failure{"input '" + desc.name + "' is missing: expects " + declaredText(desc)};
  return {};
}

/// Extent 0 of a program's input is dynamic; no net takes an empty tensor, so 0 is unambiguous.
bool shapeFits(const TensorDesc &desc, const std::vector<uint64_t> &shape) {
  return std::equal(desc.shape.begin(), desc.shape.end(), shape.begin(), shape.end(),
                    [](uint64_t expected, uint64_t size) { return expected == 0 || expected == size; });
}

/// Values of the variant's symbols for these inputs, of which each has its name and type.
Result<std::vector<int64_t>> symbolsOf(const VariantDesc &variant, const std::vector<InputTensor> &inputs) {
  std::vector<std::vector<uint64_t>> shapes;
  for (const TensorDesc &desc : variant.inputs) {
    const InputTensor &input = *findInput(inputs, desc.name);
    bool fits = desc.sizes.empty() ? shapeFits(desc, input.shape) : input.shape.size() == desc.shape.size();
    if (!fits)
      return Failure{"input '" + desc.name + "': expects " + declaredText(desc) + ", got " +
                     tensorText(input.type, input.shape)};
    shapes.push_back(input.shape);
  }
  return solveSymbols(variant, shapes);
}

Result<HostTensor> makeTensor(std::string name, ElementType type, std::vector<uint64_t> shape) {
  HostTensor tensor;
  tensor.name = std::move(name);
  tensor.type = type;
  tensor.bytes = *tensorBytes(type, shape);
  tensor.shape = std::move(shape);
  tensor.data.reset(new (std::nothrow) std::byte[tensor.bytes]);
  if (!tensor.data)
    return Failure{"out of memory: " + std::to_string(tensor.bytes) + " bytes for '" + tensor.name + "'"};
  return tensor;
}

/// Converts the elements to `type`.
Result<HostTensor> castTensor(const HostTensor &tensor, ElementType type) {
  auto result = makeTensor(tensor.name, type, tensor.shape);
  if (!result)
    return result;
  if (Status status =
          hostops::cast(tensor.data.get(), tensor.type, result->data.get(), type, *numElements(tensor.shape));
      !status)
    return Failure{"'" + tensor.name + "': " + status.error()};
  return result;
}

} // namespace

Result<size_t> Session::variantOf(const std::vector<InputTensor> &inputs) const { return state->chooseVariant(inputs); }

Status Session::checkInputs(const std::vector<InputTensor> &inputs) const {
  auto variant = variantOf(inputs);
  return variant ? Status() : Status(variant.failure());
}

Status Session::checkOutputs(const std::vector<std::string> &names) const {
  for (const std::string &name : names)
    if (!findTensor(outputs(), name))
      return Failure{"the net has no output '" + name + "', it has " + nameList(outputs())};
  return {};
}

Result<size_t> Session::State::chooseVariant(const std::vector<InputTensor> &inputs) const {
  const std::vector<VariantDesc> &variants = net->variants;
  if (Status status = checkNames(variants.front().inputs, inputs); !status)
    return status.failure();
  for (size_t i = 0; i < variants.size(); ++i)
    if (symbolsOf(variants[i], inputs))
      return i;
  if (variants.size() > 1) {
    std::string message = "none of the " + std::to_string(variants.size()) + " variants of net '" + net->name +
                          "' takes these input shapes; declared are ";
    for (size_t i = 0; i < variants.size() && i < 8; ++i)
      for (const TensorDesc &desc : variants[i].inputs)
        message += (&desc != variants[i].inputs.data() ? ", "
                    : i                                ? " | "
                                                       : "") +
                   ("'" + desc.name + "' ") + shapeText(desc.shape);
    return Failure{message + (variants.size() > 8 ? " | .." : "")};
  }
  return symbolsOf(variants.front(), inputs).failure();
}

Status Session::State::feed(VM &vm, const VariantDesc &variant, const std::vector<InputTensor> &inputs) {
  auto symbols = symbolsOf(variant, inputs);
  if (!symbols)
    return symbols.failure();
  if (*symbols != vm.symbols())
    if (Status status = vm.setSymbols(*symbols); !status)
      return status;
  for (size_t i = 0; i < variant.inputs.size(); ++i) {
    const TensorDesc &desc = variant.inputs[i];
    std::vector<uint64_t> shape = shapeFor(desc, *symbols);
    const void *data = findInput(inputs, desc.name)->data;
    HostTensor narrowed;
    if (desc.storageType != desc.type) {
      auto tensor = makeTensor(desc.name, desc.storageType, shape);
      if (!tensor)
        return tensor.failure();
      Status status = hostops::cast(data, desc.type, tensor->data.get(), desc.storageType, *numElements(shape));
      if (!status)
        return Failure{"input '" + desc.name + "': " + status.error()};
      narrowed = tensor.take();
      data = narrowed.data.get();
    }
    if (desc.indexBound != 0)
      if (Status status = checkIndex("input", {desc.name, shape, {}, desc.indexBound, {}, desc.arithmeticBound}, data);
          !status)
        return status;
    if (Status status = device->copyToDevice(vm.input(i).address, data, *tensorBytes(desc.storageType, shape)); !status)
      return status;
  }
  return {};
}

Status Session::State::clearPresets(VM &vm, const VariantDesc &variant) {
  for (size_t i = 0; i < variant.outputs.size(); ++i) {
    const TensorDesc &output = variant.outputs[i];
    if (!output.preset || findTensor(variant.inputs, output.name))
      continue;
    std::vector<std::byte> zeros(vm.output(i).bytes);
    if (Status status = device->copyToDevice(vm.output(i).address, zeros.data(), zeros.size()); !status)
      return status;
  }
  return {};
}

Status Session::State::execute(VM &vm, const VariantDesc &variant) {
  vm.keepWindows(windowsKept);
  vm.watchLaunches(watch);
  if (Status status = vm.run(); !status)
    return status;
  if (vm.hasRanks())
    ranked = &vm;
  for (const IndexUse &index : computedIndices(vm, variant))
    if (Status status = checkIndex(*device, index); !status)
      return status;
  return {};
}

Result<HostTensor> Session::State::fetchOutput(VM &vm, const VariantDesc &variant, size_t output) {
  const TensorDesc &desc = variant.outputs[output];
  auto tensor = makeTensor(desc.name, desc.storageType, shapeFor(desc, vm.symbols()));
  if (!tensor)
    return tensor;
  if (Status status = device->copyFromDevice(tensor->data.get(), vm.output(output).address, tensor->bytes); !status)
    return status.failure();
  return desc.storageType == desc.type ? std::move(tensor) : castTensor(*tensor, desc.type);
}

Status Session::State::fetchDebugTensors(VM &vm, const VariantDesc &variant, std::vector<HostTensor> &results) {
  for (const DebugTensorDesc &desc : variant.debugTensors) {
    if (std::any_of(results.begin(), results.end(), [&](auto &tensor) { return tensor.name == desc.name; }))
      continue;
    auto tensor = fetchDebugTensor(vm, desc);
    if (!tensor)
      return tensor.failure();
    results.push_back(tensor.take());
  }
  return {};
}

Result<HostTensor> Session::State::fetchDebugTensor(VM &vm, const DebugTensorDesc &desc) {
  auto stored = makeTensor(desc.name, desc.type, desc.shape);
  if (!stored)
    return stored;
  if (Status status = device->copyFromDevice(stored->data.get(), vm.address(desc), stored->bytes); !status)
    return status.failure();
  if (!desc.permutation.empty()) {
    auto turned = makeTensor(desc.name, desc.type, desc.shape);
    if (!turned)
      return turned;
    hostops::transpose(stored->data.get(), turned->data.get(), elementBits(desc.type) / 8, desc.shape,
                       desc.permutation);
    stored = std::move(turned);
  }
  stored->shape = desc.onnxShape;
  return desc.type == ElementType::BF16 ? castTensor(*stored, ElementType::F32) : std::move(stored);
}

} // namespace pto_mlir::runtime
