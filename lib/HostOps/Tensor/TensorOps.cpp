#include "Wide.h"

#include "pto_mlir/Support/PackedBits.h"

#include <algorithm>

namespace pto_mlir::hostops {

Result<std::byte *> allocate(const TensorCall &call, const std::vector<int64_t> &shape) {
  auto text = [&] { return "a tensor of shape " + shapeText(std::span<const int64_t>(shape)); };
  uint64_t count = 1;
  for (int64_t size : shape)
    if (size < 0 || (size > 0 && count > kMostElements / uint64_t(size)))
      return Failure{text() + " has more than " + std::to_string(kMostElements) + " elements"};
    else
      count *= uint64_t(size);
  if (std::byte *out = call.allocate(shape))
    return out;
  return Failure{"there is no memory for " + text()};
}

namespace {

bool isSigned(ElementType type) { return type == ElementType::I4 || type == ElementType::I2; }
ElementType unpackedType(ElementType type) {
  return isSigned(type) ? ElementType::I8 : type == ElementType::F4E2M1 ? type : ElementType::U8;
}

Status runWhole(const TensorCall &call) {
  for (auto run : {runStrings, runRandom, runMovement, runShapes, runSelection, runFilter, runSpecial, runReduction,
                   runMatMul, runWindow, runNormalization, runElementwise})
    if (std::optional<Status> status = run(call))
      return *status;
  return Failure{"the host has no operation " + std::string(call.name) + " on these operands"};
}

// Packed operands take a byte per element meanwhile. What is cast to a packed integer keeps the lowest bits of its
// whole number, as numpy does.
Status runPacked(const TensorCall &call) {
  if (call.name == "bitcast" && elementBits(call.resultType) != elementBits(call.inputs[0].type))
    return Failure{"the elements of a bitcast have another size"};
  std::vector<std::vector<std::byte>> bytes;
  std::vector<TensorView> inputs(call.inputs.begin(), call.inputs.end());
  for (TensorView &input : inputs)
    if (isPacked(input.type)) {
      bytes.push_back(unpackBits(input.data, elementBits(input.type), isSigned(input.type), countOf(input.shape)));
      input = {unpackedType(input.type), input.shape, bytes.back().data()};
    }
  if (!isPacked(call.resultType))
    return runWhole({call.name, inputs, call.parameters, call.resultType, call.allocate, call.strings, call.draw});
  bool isWhole = call.name == "cast" && call.resultType != ElementType::F4E2M1;
  ElementType type = isWhole ? ElementType::I64 : unpackedType(call.resultType);
  std::vector<std::byte> made, lowest;
  std::vector<int64_t> shape;
  auto allocate = [&](const std::vector<int64_t> &wanted) {
    shape = wanted;
    made.resize(std::max<uint64_t>(countOf(shape) * elementSize(type), 1));
    return made.data();
  };
  if (Status status = runWhole({call.name, inputs, call.parameters, type, allocate, call.strings, call.draw}); !status)
    return status;
  std::byte *out = call.allocate(shape);
  if (!out)
    return Failure{"there is no memory for a tensor of shape " + shapeText(std::span<const int64_t>(shape))};
  uint64_t count = countOf(shape), size = elementSize(type);
  lowest.reserve(count);
  for (uint64_t i = 0; i < count; ++i)
    lowest.push_back(made[i * size]);
  packBits(lowest.data(), elementBits(call.resultType), count, out);
  return {};
}

} // namespace

/// Operations that take the numbers of strings for the strings: what they give is equal for equal ones.
static bool movesStrings(std::string_view name, size_t operands) {
  if (name == "compare" || name == "where")
    return true;
  return name != "bitcast" &&
         (hasMovement(name, operands) || (hasShapes(name, operands) && name != "range") ||
          (hasFilter(name, operands) && operands < 3) || (hasSelection(name, operands) && operands > 1));
}

bool hasTensorType(ElementType type) { return type != ElementType::HIF8 && type != ElementType::F4E1M2; }

bool hasTensorOp(std::string_view name, std::span<const ElementType> operands) {
  if (operands.empty() || !std::all_of(operands.begin(), operands.end(), hasTensorType))
    return false;
  if (hasStrings(name, operands))
    return true;
  if (std::find(operands.begin(), operands.end(), ElementType::String) != operands.end())
    return movesStrings(name, operands.size());
  if (std::any_of(operands.begin(), operands.end(), isPacked))
    return hasMovement(name, operands.size()) || hasShapes(name, operands.size()) ||
           (name == "cast" && operands.size() == 1) || (name == "where" && operands.size() == 3);
  return hasMovement(name, operands.size()) || hasShapes(name, operands.size()) ||
         hasSelection(name, operands.size()) || hasFilter(name, operands.size()) || hasSpecial(name, operands.size()) ||
         hasReduction(name, operands.size(), operands.front()) || hasMatMul(name, operands.size(), operands.front()) ||
         hasWindow(name, operands.size(), operands.front()) ||
         hasNormalization(name, operands.size(), operands.front()) || hasRandom(name, operands.size()) ||
         hasElementwise(name, operands.size(), operands.back());
}

Status runTensorOp(const TensorCall &call) {
  if (call.inputs.empty())
    return Failure{"the host has no operation " + std::string(call.name) + " without operands"};
  auto isString = [](const TensorView &input) { return input.type == ElementType::String; };
  bool hasString = std::any_of(call.inputs.begin(), call.inputs.end(), isString);
  if (call.resultType == ElementType::String || hasString) {
    std::vector<ElementType> types(call.inputs.size());
    std::transform(call.inputs.begin(), call.inputs.end(), types.begin(), [](auto &input) { return input.type; });
    bool isKnown = call.name == "cast" || hasStrings(call.name, types) ||
                   (hasString && movesStrings(call.name, call.inputs.size()) &&
                    parameter<std::string>(call, "mode", "eq") == "eq" &&
                    parameter<std::string>(call, "reduction", "none") == "none");
    if (!isKnown)
      return Failure{"strings are moved and compared for equality, no more"};
  }
  bool packed = isPacked(call.resultType) || std::any_of(call.inputs.begin(), call.inputs.end(),
                                                         [](const TensorView &input) { return isPacked(input.type); });
  return packed ? runPacked(call) : runWhole(call);
}

} // namespace pto_mlir::hostops
