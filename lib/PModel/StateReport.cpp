#include "StateReport.h"

#include "pto_mlir/PModel/Report.h"

#include <algorithm>

namespace pto_mlir::pmodel {

static std::string padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string stateText(const ModelDesc &model) {
  std::string text;
  for (const StateGroupDesc &group : model.states) {
    text += "\nstate '" + group.name + "'  " + bytesText(group.bytes) + "\n";
    size_t width = 0;
    for (const StateTensorDesc &tensor : group.tensors)
      width = std::max(width, tensor.name.size());
    for (const StateTensorDesc &tensor : group.tensors) {
      text += "    " + padded(tensor.name, width) + "  " + padded(std::string(elementTypeName(tensor.type)), 5) + " " +
              shapeText(tensor.shape);
      if (tensor.sequenceAxis >= 0)
        text += "  positions along dimension " + std::to_string(tensor.sequenceAxis);
      else
        text += tensor.places == 2 ? "  whole, in two places" : "  whole";
      if (!tensor.output.empty())
        text += ", new value '" + tensor.output + "'";
      if (!tensor.initial.empty())
        text += ", begins as weight '" + tensor.initial + "'";
      text += "\n";
    }
  }
  return text;
}

std::string stateUseText(const ModelDesc &model, const VariantDesc &variant) {
  if (!variant.state)
    return "";
  std::string text = "  state          group '" + model.states[variant.state->group].name + "'";
  if (variant.state->rows)
    text += ", adds " + std::to_string(variant.state->rows) + " position(s)";
  if (variant.state->limit)
    text += " up to " + std::to_string(variant.state->limit);
  return text + "\n";
}

} // namespace pto_mlir::pmodel
