#include "SubmittedKernel.h"

#include "pto_mlir/Support/Ranks.h"

#include <algorithm>
#include <bit>

namespace pto_mlir::runtime {

using bytecode::Direction;
using bytecode::KernelKey;
using bytecode::Tensor;
using bytecode::Type;
using bytecode::Value;

Result<std::shared_ptr<DeviceTensor>> onDevice(TensorMemory &memory, Tensor &tensor, ElementType storage) {
  auto there = std::dynamic_pointer_cast<DeviceTensor>(tensor.residence);
  if (there && there->storageType() == storage)
    return there;
  if (Status status = tensor.fetch(); !status)
    return status.failure();
  auto made = DeviceTensor::upload(memory, tensor.data.get(), elementsOf(tensor.shape), tensor.element, storage);
  if (made && tensor.isConstant)
    tensor.residence = *made;
  return made;
}

bytecode::TensorPtr deviceTensor(ElementType element, std::vector<int64_t> shape, std::shared_ptr<DeviceTensor> place) {
  auto tensor = std::make_shared<Tensor>();
  tensor->element = element;
  tensor->bytes = *tensorBytes(element, std::vector<uint64_t>(shape.begin(), shape.end()));
  tensor->shape = std::move(shape);
  tensor->isConstant = !place->mayChange();
  tensor->residence = std::move(place);
  return tensor;
}

Result<std::shared_ptr<SubmittedKernel>> SubmittedKernel::make(TensorMemory &memory, const KernelKey &key) {
  LoadedModel &model = memory.loaded();
  const std::vector<pmodel::KernelDesc> &kernels = model.file->model().kernels;
  auto kernel = std::find_if(kernels.begin(), kernels.end(), [&](auto &other) { return other.name == key.op(); });
  if (kernel == kernels.end())
    return Failure{"@" + key.callee + " is no kernel of the file"};
  std::shared_ptr<SubmittedKernel> made(new SubmittedKernel(memory, key));
  made->directions = *bytecode::directionsOf(key); // verified with the program
  made->use = kernelUse(*kernel);
  made->blocks = kernel->blocks;
  made->name = kernel->name;
  auto handle = model.kernelHandle(uint32_t(kernel - kernels.begin()));
  if (!handle)
    return handle.failure();
  made->handle = *handle;
  made->isRanked = bytecode::isRanked(key);
  if (!model.tasks || made->isRanked)
    return made;
  pmodel::KernelUse followed = made->use;
  for (size_t i = 0; i < followed.arguments.size(); ++i)
    if (made->directions[i] == Direction::None)
      followed.arguments[i] = {};
  made->steps = std::make_unique<StepTasks>(*model.tasks, *model.device);
  std::vector<pto_arg> arguments(made->directions.size(), pto_arg{0, 1});
  if (Status status =
          made->steps->addLaunch(kernel->name, "", followed, made->handle, made->blocks, arguments,
                                 std::vector<int64_t>(key.operands.size() - arguments.size()), StepTasks::Sizes::Bound);
      !status)
    return status.failure();
  return made;
}

/// Adds the tensor's memory. A tensor that is written stays there, and what it had on the host is forgotten.
Status SubmittedKernel::place(Tensor &tensor, bool written, std::vector<pto_arg> &arguments) {
  if (written && tensor.isConstant)
    return Failure{"argument " + std::to_string(arguments.size()) + " is written, but is an input of the program"};
  auto there = onDevice(memory, tensor, tensor.element);
  if (!there)
    return there.failure();
  if (written || !tensor.isConstant) {
    (*there)->share();
    tensor.residence = *there;
    tensor.data.reset();
  }
  arguments.push_back((*there)->memory());
  return {};
}

/// Refuses memory that the kernel reaches by two arguments and writes: inside a kernel such accesses have no order.
static Status checkOverlap(const std::vector<pto_arg> &arguments, const pmodel::KernelUse &use) {
  for (size_t i = 0; i < arguments.size(); ++i)
    for (size_t j = 0; use.arguments[i].written && j < arguments.size(); ++j) {
      const pto_arg &a = arguments[i], &b = arguments[j];
      bool accessed = use.arguments[j].read || use.arguments[j].written;
      if (i != j && accessed && a.address < b.address + b.bytes && b.address < a.address + a.bytes)
        return Failure{"arguments " + std::to_string(std::min(i, j)) + " and " + std::to_string(std::max(i, j)) +
                       " share memory that the kernel writes"};
    }
  return {};
}

Status SubmittedKernel::submitRanked(int64_t rank, std::vector<pto_arg> arguments, std::vector<int64_t> scalars) {
  if (rank < 0 || rank >= int64_t(kMostRanks))
    return Failure{"there is no device " + std::to_string(rank)};
  std::vector<bool> isWindow(directions.size());
  std::transform(directions.begin(), directions.end(), isWindow.begin(),
                 [](Direction direction) { return direction == Direction::None; });
  memory.ranked().add({uint32_t(rank), handle, blocks, std::move(arguments), std::move(scalars), name, "", use.cube},
                      use, isWindow);
  return {};
}

Status SubmittedKernel::submit(std::span<const Value> operands, std::span<const tasks::TaskId> after) {
  std::vector<pto_arg> arguments;
  std::vector<int64_t> scalars;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Type &type = key.operands[i];
    if (type.isTensor) {
      if (Status status = place(*operands[i].tensor, use.arguments[arguments.size()].written, arguments); !status)
        return status;
    } else if (type.kind() == bytecode::Kind::Float) { // its bits
      double value = operands[i].asDouble();
      scalars.push_back(type.element == ElementType::F32 ? int64_t(std::bit_cast<uint32_t>(float(value)))
                                                         : std::bit_cast<int64_t>(value));
    } else {
      scalars.push_back(operands[i].bits);
    }
  }
  if (Status status = checkOverlap(arguments, use); !status)
    return status;
  if (isRanked) {
    int64_t rank = scalars.back(); // verified with the program
    scalars.pop_back();
    return submitRanked(rank, std::move(arguments), std::move(scalars));
  }
  if (!steps)
    return memory.device().launch(handle, blocks, arguments, scalars);
  if (Status status = steps->bind(0, std::move(arguments), std::move(scalars), after); !status)
    return status;
  return steps->submit();
}

} // namespace pto_mlir::runtime
