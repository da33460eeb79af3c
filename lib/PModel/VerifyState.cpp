#include "VerifyState.h"

#include "Names.h"
#include "pto_mlir/Support/MathExtras.h"

namespace pto_mlir::pmodel {

namespace {

constexpr uint64_t kMostStateBytes = uint64_t(1) << 46;

Status verifyInitial(const ModelDesc &model, const StateTensorDesc &tensor) {
  auto weight = std::find_if(model.weights.begin(), model.weights.end(),
                             [&](const WeightDesc &weight) { return weight.name == tensor.initial; });
  if (weight == model.weights.end())
    return Failure{"its initial value '" + tensor.initial + "' is not a weight of the file"};
  if (weight->type != tensor.type || weight->shape != tensor.shape)
    return Failure{"its initial value '" + tensor.initial + "' has another type or shape"};
  return {};
}

Status verifyTensor(const ModelDesc &model, const StateTensorDesc &tensor) {
  auto bytes = isKnown(tensor.type) ? tensorBytes(tensor.type, tensor.shape) : std::nullopt;
  if (!bytes || *bytes == 0 || *bytes > kMostStateBytes || tensor.type == ElementType::String)
    return Failure{"bad element type or shape"};
  if (tensor.places != 1 && tensor.places != 2)
    return Failure{"has " + std::to_string(tensor.places) + " places, expects 1 or 2"};
  if (tensor.sequenceAxis < -1 || tensor.sequenceAxis >= static_cast<int64_t>(tensor.shape.size()))
    return Failure{"bad axis of positions"};
  if (tensor.places == 2 && tensor.sequenceAxis != -1)
    return Failure{"has two places and an axis of positions; what is written by rows has one"};
  if (!isCleanText(tensor.output))
    return Failure{"the name of its output is not clean UTF-8"};
  return tensor.initial.empty() ? Status() : verifyInitial(model, tensor);
}

/// Checks that the places of a group's tensors are aligned, inside and apart.
Status verifyPlaces(const StateGroupDesc &group) {
  struct Place {
    uint64_t begin, end;
    const StateTensorDesc *tensor;
  };
  std::vector<Place> places;
  for (const StateTensorDesc &tensor : group.tensors) {
    std::string who = "tensor '" + tensor.name + "': ";
    if (tensor.offset % kStateAlignment != 0 || tensor.offset < kStateHeaderBytes)
      return Failure{who + "begins at byte " + std::to_string(tensor.offset) + ", expects a multiple of " +
                     std::to_string(kStateAlignment) + " from " + std::to_string(kStateHeaderBytes) + " on"};
    if (tensor.offset > kMostStateBytes)
      return Failure{who + "lies outside its group"};
    places.push_back({tensor.offset, tensor.offset + stateBytes(tensor), &tensor});
    if (tensor.places == 2)
      places.push_back({secondPlace(tensor), secondPlace(tensor) + stateBytes(tensor), &tensor});
  }
  std::sort(places.begin(), places.end(), [](const Place &a, const Place &b) { return a.begin < b.begin; });
  for (size_t i = 0; i < places.size(); ++i) {
    std::string who = "tensor '" + places[i].tensor->name + "': ";
    if (places[i].end > group.bytes)
      return Failure{who + "lies outside its group"};
    if (i != 0 && places[i].begin < places[i - 1].end)
      return Failure{who + "overlaps '" + places[i - 1].tensor->name + "'"};
  }
  return {};
}

} // namespace

uint64_t stateBytes(const StateTensorDesc &tensor) { return *tensorBytes(tensor.type, tensor.shape); }
uint64_t secondPlace(const StateTensorDesc &tensor) {
  return tensor.offset + roundUp(stateBytes(tensor), kStateAlignment);
}

Status verifyStates(const ModelDesc &model) {
  Names groups("group of state");
  for (const StateGroupDesc &group : model.states) {
    if (Status status = groups.add(group.name); !status)
      return status;
    std::string who = "group of state '" + group.name + "': ";
    if (group.bytes < kStateHeaderBytes || group.bytes > kMostStateBytes)
      return Failure{who + "has " + std::to_string(group.bytes) + " bytes"};
    Names names("tensor of state");
    for (const StateTensorDesc &tensor : group.tensors) {
      if (Status status = names.add(tensor.name); !status)
        return Failure{who + status.error()};
      if (Status status = verifyTensor(model, tensor); !status)
        return Failure{who + "tensor '" + tensor.name + "': " + status.error()};
    }
    if (Status status = verifyPlaces(group); !status)
      return Failure{who + status.error()};
  }
  return {};
}

Status verifyStateUse(const ModelDesc &model, const VariantDesc &variant) {
  if (!variant.state)
    return {};
  const StateUseDesc &use = *variant.state;
  if (use.group >= model.states.size())
    return Failure{"uses group of state " + std::to_string(use.group) + ", which does not exist"};
  if (use.rows > INT32_MAX || use.limit > INT32_MAX || (use.limit != 0 && use.rows > use.limit))
    return Failure{"adds " + std::to_string(use.rows) + " positions to a state of at most " +
                   std::to_string(use.limit)};
  return {};
}

} // namespace pto_mlir::pmodel
