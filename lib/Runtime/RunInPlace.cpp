// Runs of a net on the caller's memory, without tensors of the runtime between.
#include "SessionState.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace pto_mlir::runtime {

using namespace pto_mlir::pmodel;

namespace {

const NamedMemory *find(const std::vector<NamedMemory> &memory, const std::string &name) {
  auto it = std::find_if(memory.begin(), memory.end(), [&](const NamedMemory &part) { return part.name == name; });
  return it == memory.end() ? nullptr : &*it;
}

/// Whether extents are those of a run.
bool isSized(const TensorDesc &tensor) { return std::count(tensor.shape.begin(), tensor.shape.end(), 0) != 0; }

/// The shape of a tensor in a run; nothing where the memory has no such one.
std::optional<std::vector<uint64_t>> shapeOf(const TensorDesc &tensor, const NamedMemory &part) {
  if (!isSized(tensor))
    return tensor.shape;
  bool fits =
      std::equal(tensor.shape.begin(), tensor.shape.end(), part.shape.begin(), part.shape.end(),
                 [](uint64_t wanted, uint64_t given) { return given != 0 && (wanted == 0 || wanted == given); });
  return fits ? std::optional(part.shape) : std::nullopt;
}

/// Each input and output once, with its bytes.
Status check(const VariantDesc &variant, const std::vector<NamedMemory> &memory) {
  for (const auto *list : {&variant.inputs, &variant.outputs})
    for (const TensorDesc &tensor : *list) {
      const NamedMemory *part = find(memory, tensor.name);
      if (!part)
        return Failure{"'" + tensor.name + "' is missing"};
      auto shape = shapeOf(tensor, *part);
      if (!shape)
        return Failure{"'" + tensor.name + "' has " + std::to_string(tensor.shape.size()) +
                       " axes, some of which the run says: give it with its shape"};
      auto bytes = tensorBytes(tensor.type, *shape);
      if (!bytes || part->bytes != *bytes)
        return Failure{"'" + tensor.name + "' has " + (bytes ? std::to_string(*bytes) : "too many") + " bytes, not " +
                       std::to_string(part->bytes)};
      if (tensor.storageType != tensor.type || tensor.indexBound || tensor.type == ElementType::String)
        return Failure{"'" + tensor.name + "' is converted or checked, so it cannot be used in place"};
    }
  for (const NamedMemory &part : memory) {
    auto named = [&](const TensorDesc &tensor) { return tensor.name == part.name; };
    if (std::none_of(variant.inputs.begin(), variant.inputs.end(), named) &&
        std::none_of(variant.outputs.begin(), variant.outputs.end(), named))
      return Failure{"the net has no input or output '" + std::string(part.name) + "'"};
  }
  return {};
}

} // namespace

Status Session::runProgramInPlace(const std::vector<NamedMemory> &memory) {
  const VariantDesc &variant = net().variants.front();
  if (net().variants.size() != 1 || variant.state)
    return Failure{"program '" + net().name + "' has several variants or state, and cannot be run in place"};
  if (Status status = check(variant, memory); !status)
    return status;
  std::lock_guard lock(state->mutex);
  std::vector<InputTensor> inputs;
  auto add = [&](const TensorDesc &tensor) {
    const NamedMemory &part = *find(memory, tensor.name);
    inputs.push_back({tensor.name, tensor.type, *shapeOf(tensor, part), part.data});
  };
  for (const TensorDesc &tensor : variant.inputs)
    add(tensor);
  for (const TensorDesc &tensor : variant.outputs)
    if (tensor.preset)
      add(tensor);
  auto outputs = state->runner->run(0, inputs, nullptr);
  if (!outputs)
    return outputs.failure();
  for (const HostTensor &output : *outputs)
    if (output.bytes != find(memory, output.name)->bytes)
      return Failure{"'" + output.name + "' has " + std::to_string(output.bytes) + " bytes in this run, not " +
                     std::to_string(find(memory, output.name)->bytes)};
  for (const HostTensor &output : *outputs)
    if (const NamedMemory &part = *find(memory, output.name); part.bytes)
      std::memcpy(part.data, output.data.get(), part.bytes);
  return {};
}

Status Session::runInPlace(const std::vector<NamedMemory> &memory) {
  const VariantDesc &variant = net().variants.front();
  if (state->runner)
    return runProgramInPlace(memory);
  if (net().variants.size() != 1 || !variant.symbols.empty() || variant.state)
    return Failure{"net '" + net().name + "' has several variants, sizes or state, and cannot be run in place"};
  if (Status status = check(variant, memory); !status)
    return status;
  std::lock_guard lock(state->mutex);
  auto vm = state->program(0);
  if (!vm)
    return vm.failure();
  auto upload = [&](const TensorDesc &tensor, const pto_arg &place) {
    const NamedMemory &part = *find(memory, tensor.name);
    return state->device->copyToDevice(place.address, part.data, part.bytes);
  };
  for (size_t i = 0; i < variant.inputs.size(); ++i)
    if (Status status = upload(variant.inputs[i], (*vm)->input(i)); !status)
      return status;
  for (size_t i = 0; i < variant.outputs.size(); ++i)
    if (variant.outputs[i].preset)
      if (Status status = upload(variant.outputs[i], (*vm)->output(i)); !status)
        return status;
  if (Status status = state->execute(**vm, variant); !status)
    return status;
  for (size_t i = 0; i < variant.outputs.size(); ++i) {
    const NamedMemory &part = *find(memory, variant.outputs[i].name);
    if (Status status = state->device->copyFromDevice(part.data, (*vm)->output(i).address, part.bytes); !status)
      return status;
  }
  return {};
}

} // namespace pto_mlir::runtime
