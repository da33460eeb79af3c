#include "pto_mlir/TaskRuntime/TaskSpec.h"

namespace pto_mlir::tasks {

TaskSpec::Argument *TaskSpec::append() {
  if (numArgs == kMaxArguments) {
    tooManyArguments = true;
    return nullptr;
  }
  return &arguments[numArgs++];
}

TaskSpec &TaskSpec::addTensor(const Tensor &tensor, uint8_t flags) {
  if (Argument *argument = append())
    *argument = {tensor.address, tensor.region(), tensor.owner.value, uint8_t(flags | IsTensor)};
  return *this;
}

TaskSpec &TaskSpec::allocate(uint32_t elementBytes, std::initializer_list<int64_t> shape) {
  if (shape.size() > kMaxRank) {
    tooManyArguments = true;
    return *this;
  }
  Tensor tensor = Tensor::dense(uint64_t(0), elementBytes, shape);
  if (Argument *argument = append()) {
    *argument = {allocated.size(), tensor.region(), 0, uint8_t(Writes | Allocates | IsTensor)};
    allocated.push_back(tensor);
  }
  return *this;
}

TaskSpec &TaskSpec::scalar(uint64_t word) {
  if (Argument *argument = append())
    *argument = {word, {}, 0, 0};
  return *this;
}

bool Predicate::holds(int64_t value) const {
  switch (comparison) {
  case Comparison::NotEqual:
    return value != target;
  case Comparison::Equal:
    return value == target;
  case Comparison::Greater:
    return value > target;
  case Comparison::Less:
    return value < target;
  case Comparison::GreaterEqual:
    return value >= target;
  case Comparison::LessEqual:
    return value <= target;
  }
  return false; // a number that is none: refused when it is submitted
}

TaskSpec &TaskSpec::onlyIf(const Tensor &flag, Comparison comparison, int64_t target) {
  uint16_t bytes = flag.elementBytes <= 8 ? uint16_t(flag.elementBytes) : uint16_t(UINT16_MAX);
  predicate = {flag.address, bytes, comparison, target};
  arguments[kMaxArguments] = {flag.address, Region::bytes(flag.address, flag.elementBytes), flag.owner.value,
                              Reads | IsTensor | Hidden};
  return *this;
}

} // namespace pto_mlir::tasks
