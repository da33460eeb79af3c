#include "pto_mlir/PModel/Verifier.h"

#include "Names.h"
#include "VerifyHostProgram.h"
#include "VerifyProgram.h"
#include "VerifySizes.h"
#include "VerifyState.h"

#include <algorithm>
#include <cmath>

namespace pto_mlir::pmodel {

namespace {

Status verifyTensor(const TensorDesc &tensor) {
  std::string who = "tensor '" + tensor.name + "': ";
  if (!isKnown(tensor.type) || !isKnown(tensor.storageType))
    return Failure{who + "unknown element type"};
  if (tensor.type == ElementType::String || tensor.storageType == ElementType::String)
    return Failure{who + "a net has no strings, only host programs have"};
  if (!tensorBytes(tensor.type, tensor.shape) || !tensorBytes(tensor.storageType, tensor.shape))
    return Failure{who + "shape " + shapeText(tensor.shape) + " is too large"};
  if (tensor.indexBound != 0 && tensor.storageType != ElementType::I32)
    return Failure{who + "an index that is not stored as i32"};
  const QuantizationDesc &quantization = tensor.quantization;
  for (float scale : quantization.scales)
    if (!std::isfinite(scale))
      return Failure{who + "a quantisation scale is not finite"};
  if (!quantization.zeroPoints.empty() && quantization.zeroPoints.size() != quantization.scales.size())
    return Failure{who + "zero points and scales differ in number"};
  if (quantization.axis < -1 || quantization.axis >= static_cast<int64_t>(tensor.shape.size()))
    return Failure{who + "bad quantisation axis"};
  size_t expected = quantization.axis >= 0 ? tensor.shape[quantization.axis] : 1;
  if (!quantization.scales.empty() && quantization.scales.size() != expected)
    return Failure{who + "expects " + std::to_string(expected) + " quantisation scales"};
  return {};
}

/// A preset output shares the memory of the input of its name.
Status verifyPresets(const VariantDesc &variant) {
  for (const TensorDesc &input : variant.inputs)
    if (input.preset)
      return Failure{"input '" + input.name + "' is preset, which only outputs are"};
  for (const TensorDesc &output : variant.outputs) {
    if (!output.preset)
      continue;
    if (!output.sizes.empty() || output.storageType != output.type)
      return Failure{"output '" + output.name + "' is preset, but has sizes or a storage type of its own"};
    for (const TensorDesc &input : variant.inputs)
      if (input.name == output.name &&
          (input.type != output.type || input.storageType != input.type || input.shape != output.shape))
        return Failure{"output '" + output.name + "' is preset by an input of another type or shape"};
  }
  return {};
}

/// Size in bytes of the buffer that contains a debug tensor.
Result<uint64_t> regionBytes(const ModelDesc &model, const VariantDesc &variant, const DebugTensorDesc &tensor) {
  auto bytes = [&](const std::vector<TensorDesc> &tensors) -> Result<uint64_t> {
    if (tensor.index >= tensors.size())
      return Failure{"its input or output does not exist"};
    return *tensorBytes(tensors[tensor.index].storageType, tensors[tensor.index].shape);
  };
  switch (tensor.region) {
  case Region::Input:
    return bytes(variant.inputs);
  case Region::Output:
    return bytes(variant.outputs);
  case Region::Workspace:
    return variant.workspaceBytes;
  case Region::State:
    if (variant.state)
      return model.states[variant.state->group].bytes;
    break;
  case Region::Weights:
    break;
  }
  return Failure{"a debug tensor lies in an input, an output, the workspace or the state"};
}

Status verifyDebugTensor(const ModelDesc &model, const VariantDesc &variant, const DebugTensorDesc &tensor) {
  std::string who = "debug tensor '" + tensor.name + "': ";
  auto bytes = isKnown(tensor.type) ? tensorBytes(tensor.type, tensor.shape) : std::nullopt;
  if (!bytes || tensor.shape.size() > 8 || tensor.type == ElementType::String)
    return Failure{who + "bad element type or shape"};
  if (numElements(tensor.onnxShape) != numElements(tensor.shape))
    return Failure{who + "its ONNX shape has another number of elements"};
  if (!tensor.permutation.empty()) {
    std::vector<bool> seen(tensor.shape.size());
    bool valid = tensor.permutation.size() == tensor.shape.size();
    for (uint8_t from : tensor.permutation) {
      valid = valid && from < seen.size() && !seen[from];
      if (valid)
        seen[from] = true;
    }
    if (!valid)
      return Failure{who + "bad permutation"};
    if (isPacked(tensor.type))
      return Failure{who + "elements smaller than a byte cannot be permuted"};
  }
  if (tensor.indexBound != 0 && (tensor.type != ElementType::I32 || tensor.indexBound > INT32_MAX))
    return Failure{who + "is an index, but not of 32-bit integers or of too many rows"};
  auto room = regionBytes(model, variant, tensor);
  if (!room)
    return Failure{who + room.error()};
  if (tensor.offset > *room || *bytes > *room - tensor.offset)
    return Failure{who + "lies outside its buffer"};
  return {};
}

Status verifyWeights(const ModelDesc &model, const WeightLayout &layout) {
  if (layout.offsets.size() != model.weights.size())
    return Failure{"the weight layout belongs to other weights"};
  Names names("weight");
  for (size_t i = 0; i < model.weights.size(); ++i) {
    const WeightDesc &weight = model.weights[i];
    if (Status status = names.add(weight.name); !status)
      return status;
    std::string who = "weight '" + weight.name + "': ";
    auto bytes = isKnown(weight.type) ? tensorBytes(weight.type, weight.shape) : std::nullopt;
    if (!bytes || *bytes != weight.size)
      return Failure{who + "its size does not match its type and shape"};
    uint64_t offset = layout.offsets[i];
    if (offset % 64 != 0 || offset > layout.totalBytes || weight.size > layout.totalBytes - offset)
      return Failure{who + "lies outside the weights section"};
  }
  return {};
}

Status verifyTexts(const ModelDesc &model) {
  auto clean = [](const std::vector<std::string> &texts) {
    for (const std::string &text : texts)
      if (!isCleanText(text))
        return false;
    return true;
  };
  bool good = isCleanText(model.producer) && isCleanText(model.processor);
  for (const KernelDesc &kernel : model.kernels) {
    good = good && clean(kernel.sourceOps) && clean(kernel.sources);
    for (const LocalMemoryUse &use : kernel.localMemory)
      good = good && isCleanText(use.space);
  }
  for (const HostProgramDesc &program : model.programs)
    good =
        good && isCleanText(program.name) && clean(program.inputs) && clean(program.outputs) && clean(program.presets);
  for (const NetDesc &net : model.nets) {
    good = good && isCleanText(net.quantize) && isCleanText(net.preprocess);
    for (const VariantDesc &variant : net.variants)
      good = good && clean(variant.absorbed) && clean(variant.hostOps) && isCleanText(variant.program.name) &&
             isCleanText(variant.program.target) && clean(variant.program.launchOps) && clean(variant.program.places) &&
             std::all_of(variant.symbols.begin(), variant.symbols.end(),
                         [](auto &symbol) { return isCleanText(symbol.name); });
  }
  return good ? Status() : Status(Failure{"a text is not clean UTF-8"});
}

bool sameShapes(const std::vector<TensorDesc> &a, const std::vector<TensorDesc> &b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].shape != b[i].shape)
      return false;
  return true;
}

/// Checks that the variants of a net differ in shapes only.
Status verifyVariantsAgree(const NetDesc &net) {
  for (size_t v = 1; v < net.variants.size(); ++v) {
    auto same = [&](const std::vector<TensorDesc> &a, const std::vector<TensorDesc> &b) {
      bool equal = a.size() == b.size();
      for (size_t i = 0; equal && i < a.size(); ++i)
        equal = a[i].name == b[i].name && a[i].type == b[i].type;
      return equal;
    };
    if (!same(net.variants[v].inputs, net.variants[0].inputs) ||
        !same(net.variants[v].outputs, net.variants[0].outputs))
      return Failure{"its variants differ in names or types of inputs or outputs"};
    if (net.variants[v].state.has_value() != net.variants[0].state.has_value() ||
        (net.variants[v].state && net.variants[v].state->group != net.variants[0].state->group))
      return Failure{"its variants use different groups of state"};
    for (size_t w = 0; w < v; ++w)
      if (sameShapes(net.variants[v].inputs, net.variants[w].inputs))
        return Failure{"two variants take the same input shapes"};
  }
  return {};
}

} // namespace

Status verifyVariant(const ModelDesc &model, const VariantDesc &variant, const WeightLayout &layout) {
  Names inputs("input"), outputs("output"), debug("debug tensor");
  if (Status status = verifyStateUse(model, variant); !status)
    return status;
  for (const TensorDesc &tensor : variant.inputs) {
    if (Status status = inputs.add(tensor.name); !status)
      return status;
    if (Status status = verifyTensor(tensor); !status)
      return status;
  }
  for (const TensorDesc &tensor : variant.outputs) {
    if (Status status = outputs.add(tensor.name); !status)
      return status;
    if (Status status = verifyTensor(tensor); !status)
      return status;
  }
  if (Status status = verifyPresets(variant); !status)
    return status;
  if (Status status = verifySizes(variant); !status)
    return status;
  if (Status status = verifyProgram(model, variant, layout); !status)
    return Failure{"program '" + variant.program.name + "': " + status.error()};
  for (const DebugTensorDesc &tensor : variant.debugTensors) {
    if (Status status = debug.add(tensor.name); !status)
      return status;
    if (Status status = verifyDebugTensor(model, variant, tensor); !status)
      return status;
  }
  return {};
}

Status verifyModel(const ModelDesc &model, const WeightLayout &layout) {
  if (model.processor.empty())
    return Failure{"the model names no processor"};
  if (model.numCore < 1 || model.numCore > 1024)
    return Failure{"the number of cores must be 1 to 1024, got " + std::to_string(model.numCore)};
  if (Status status = verifyTexts(model); !status)
    return status;
  Names kernels("kernel"), nets("net");
  for (const KernelDesc &kernel : model.kernels) {
    if (Status status = kernels.add(kernel.name); !status)
      return status;
    if (Status status = verifyKernel(kernel, model.processor); !status)
      return Failure{"kernel '" + kernel.name + "': " + status.error()};
  }
  if (Status status = verifyWeights(model, layout); !status)
    return status;
  if (Status status = verifyStates(model); !status)
    return status;
  for (const NetDesc &net : model.nets) {
    if (Status status = nets.add(net.name); !status)
      return status;
    if (net.variants.empty())
      return Failure{"net '" + net.name + "' is empty"};
    for (const VariantDesc &variant : net.variants)
      if (Status status = verifyVariant(model, variant, layout); !status)
        return Failure{"net '" + net.name + "': " + status.error()};
    if (Status status = verifyVariantsAgree(net); !status)
      return Failure{"net '" + net.name + "': " + status.error()};
  }
  for (const HostProgramDesc &program : model.programs)
    if (Status status = verifyHostProgram(model, program); !status)
      return Failure{"host program '" + program.name + "': " + status.error()};
  return {};
}

} // namespace pto_mlir::pmodel
