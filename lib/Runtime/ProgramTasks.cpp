// What the programs of a .pmodel submit, and the tensors that their tasks share.
#include "ProgramKernels.h"

namespace pto_mlir::runtime {

using bytecode::Kernel;
using bytecode::Tensor;
using bytecode::TensorPtr;
using bytecode::Value;

int64_t ProgramKernels::remember(tasks::TaskId task) {
  taskIds.push_back(task);
  return int64_t(taskIds.size());
}

std::vector<tasks::TaskId> ProgramKernels::tasksOf(std::span<const int64_t> ids) const {
  std::vector<tasks::TaskId> list;
  for (int64_t id : ids)
    if (id > 0 && uint64_t(id) <= taskIds.size())
      list.push_back(taskIds[size_t(id - 1)]);
  return list;
}

Result<int64_t> ProgramKernels::submit(Kernel &kernel, std::span<const Value> operands,
                                       std::span<const int64_t> after) {
  auto &task = dynamic_cast<SubmittedKernel &>(kernel);
  if (Status status = task.submit(operands, tasksOf(after)); !status)
    return status.failure();
  return task.task() ? remember(task.task()) : 0;
}

Result<int64_t> ProgramKernels::join(std::span<const int64_t> after) {
  auto *runtime = memory.loaded().tasks.get();
  std::vector<tasks::TaskId> producers = tasksOf(after);
  if (!runtime || producers.empty())
    return 0;
  tasks::TaskSpec spec = tasks::TaskSpec::barrier();
  for (tasks::TaskId producer : producers)
    spec.after(producer);
  auto task = runtime->submit(spec);
  return task ? Result<int64_t>(remember(*task)) : Result<int64_t>(task.failure());
}

Result<TensorPtr> ProgramKernels::view(Tensor &tensor, uint64_t offset, std::vector<int64_t> shape) {
  auto place = onDevice(memory, tensor, tensor.element);
  if (!place)
    return place.failure();
  if (!tensor.isConstant) {
    (*place)->share();
    tensor.residence = *place;
    tensor.data.reset();
  }
  uint64_t elements = elementsOf(shape);
  return deviceTensor(tensor.element, std::move(shape), (*place)->part(offset, elements));
}

Result<TensorPtr> ProgramKernels::reserve(ElementType element, std::vector<int64_t> shape) {
  auto place = DeviceTensor::make(memory, elementsOf(shape), element, element);
  if (!place)
    return place.failure();
  (*place)->share();
  return deviceTensor(element, std::move(shape), place.take());
}

} // namespace pto_mlir::runtime
