// Tasks, and the memory that they share: submit, join, view, reserve.
#include "TensorText.h"
#include "pto_mlir/ByteCode/Machine.h"

namespace pto_mlir::bytecode {

Result<int64_t> KernelProvider::submit(Kernel &kernel, std::span<const Value> operands, std::span<const int64_t>) {
  Status status = kernel.run(operands, {});
  return status ? Result<int64_t>(0) : Result<int64_t>(status.failure());
}

Result<TensorPtr> KernelProvider::view(Tensor &tensor, uint64_t offset, std::vector<int64_t> shape) {
  if (Status status = tensor.detach(); !status)
    return status.failure();
  auto part = std::make_shared<Tensor>();
  part->element = tensor.element;
  part->bytes = *tensorBytes(tensor.element, std::vector<uint64_t>(shape.begin(), shape.end()));
  part->shape = std::move(shape);
  part->data = std::shared_ptr<std::byte[]>(tensor.data, tensor.data.get() + *tensorBytes(tensor.element, {offset}));
  return part;
}

Result<TensorPtr> KernelProvider::reserve(ElementType element, std::vector<int64_t> shape) {
  TensorPtr tensor = makeTensor(element, std::move(shape));
  return tensor ? Result<TensorPtr>(std::move(tensor)) : Result<TensorPtr>(Failure{"out of memory"});
}

Status Machine::submit(const Step &step, std::span<const int64_t> after) {
  const auto &key = std::get<KernelKey>(loaded.module().constants[step.a]);
  std::vector<Value> operands(key.operands.size());
  popOperands(key, operands);
  Kernel &kernel = *kernels[step.a];
  if (!kernel.knowsResidences()) {
    if (Status status = waitForLaunches(); !status)
      return status;
    for (const Value &operand : operands)
      if (operand.tensor)
        if (Status status = operand.tensor->fetch(); !status)
          return status;
  }
  auto task = provider->submit(kernel, operands, after);
  if (!task)
    return Failure{"@" + key.callee + ": " + task.error()};
  numberStack[numbers++] = *task;
  return {};
}

Status Machine::taskStep(const Step &step) {
  switch (step.opcode) {
  case Opcode::Submit:
  case Opcode::Join: {
    numbers -= step.b;
    std::vector<int64_t> after(numberStack.begin() + numbers, numberStack.begin() + numbers + step.b);
    if (step.opcode == Opcode::Submit)
      return submit(step, after);
    auto task = provider->join(after);
    if (!task)
      return task.failure();
    numberStack[numbers++] = *task;
    return {};
  }
  default:
    break;
  }
  const Type &type = loaded.module().types[step.a];
  auto shape = popShape(type);
  if (!shape)
    return shape.failure();
  auto bytes = sizeOf(type, *shape);
  if (!bytes)
    return bytes.failure();
  if (step.opcode == Opcode::Reserve) {
    auto tensor = provider->reserve(type.element, shape.take());
    if (!tensor)
      return tensor.failure();
    tensorStack[references++] = tensor.take();
    return {};
  }
  if (Status status = waitForLaunches(); !status)
    return status;
  TensorPtr &top = tensorStack[references - 1];
  int64_t offset = numberStack[--numbers];
  if (elementBits(type.element) % 8)
    return Failure{"views elements that are smaller than a byte"};
  uint64_t size = elementBits(type.element) / 8;
  if (offset < 0 || *bytes > top->bytes || uint64_t(offset) > (top->bytes - *bytes) / size)
    return Failure{"a view of " + shapeText(*shape) + " at element " + std::to_string(offset) + " is outside " +
                   shapeText(top->shape)};
  auto part = provider->view(*top, uint64_t(offset), shape.take());
  if (!part)
    return part.failure();
  top = part.take();
  return {};
}

} // namespace pto_mlir::bytecode
