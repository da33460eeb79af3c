#include "Wide.h"

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

bool hasTensorOp(std::string_view name, std::span<const ElementType> operands) {
  if (operands.empty())
    return false;
  for (ElementType type : operands)
    if (elementBits(type) < 8 || type == ElementType::HIF8)
      return false;
  return hasMovement(name, operands.size()) || hasSelection(name, operands.size()) ||
         hasReduction(name, operands.size(), operands.front()) ||
         hasElementwise(name, operands.size(), operands.back());
}

Status runTensorOp(const TensorCall &call) {
  if (!call.inputs.empty())
    for (auto run : {runMovement, runSelection, runReduction, runElementwise})
      if (std::optional<Status> status = run(call))
        return *status;
  return Failure{"the host has no operation " + std::string(call.name) + " on these operands"};
}

} // namespace pto_mlir::hostops
