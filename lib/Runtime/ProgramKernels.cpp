#include "ProgramKernels.h"

#include <algorithm>

namespace pto_mlir::runtime {

using namespace pto_mlir::pmodel;
using bytecode::Kernel;
using bytecode::KernelKey;
using bytecode::Tensor;
using bytecode::TensorPtr;
using bytecode::Type;
using bytecode::Value;

namespace {

bool fits(const std::vector<TensorDesc> &tensors, std::span<const Value> values) {
  return std::equal(
      tensors.begin(), tensors.end(), values.begin(), values.end(), [](const TensorDesc &desc, const Value &value) {
        return std::equal(desc.shape.begin(), desc.shape.end(), value.tensor->shape.begin(), value.tensor->shape.end(),
                          [](uint64_t a, int64_t b) { return a == uint64_t(b); });
      });
}

/// A net as a kernel; the operand shapes of a call select the variant.
class NetKernel : public Kernel {
public:
  NetKernel(ProgramKernels &kernels, TensorMemory &memory, std::vector<ProgramKernels::Net *> variants)
      : kernels(kernels), memory(memory), variants(std::move(variants)) {}
  bool knowsResidences() const override { return true; }

  Status run(std::span<const Value> operands, std::span<Value> results) override {
    auto chosen =
        std::find_if(variants.begin(), variants.end(), [&](auto *net) { return fits(net->variant->inputs, operands); });
    if (chosen == variants.end())
      return Failure{"the net has no variant for tensors of these shapes"};
    ProgramKernels::Net &net = **chosen;
    std::vector<std::shared_ptr<DeviceTensor>> places;
    std::vector<pto_arg> ports;
    auto add = [&](Result<std::shared_ptr<DeviceTensor>> place, const TensorDesc &desc) -> Status {
      if (!place)
        return Failure{"'" + desc.name + "': " + place.error()};
      ports.push_back((*place)->memory());
      places.push_back(place.take());
      return {};
    };
    for (size_t i = 0; i < operands.size(); ++i)
      if (Status status =
              add(onDevice(memory, *operands[i].tensor, net.variant->inputs[i].storageType), net.variant->inputs[i]);
          !status)
        return status;
    for (size_t i = 0; i < results.size(); ++i) {
      const TensorDesc &desc = net.variant->outputs[i];
      uint64_t elements = *numElements(desc.shape);
      if (Status status = add(DeviceTensor::make(memory, elements, desc.type, desc.storageType), desc); !status)
        return status;
      results[i] =
          Value::of(deviceTensor(desc.type, std::vector<int64_t>(desc.shape.begin(), desc.shape.end()), places.back()));
    }
    if (net.variant->state)
      if (Status status = bindState(net); !status)
        return status;
    if (Status status = net.vm->bind(ports); !status)
      return status;
    net.isCalled = true;
    // Debug tensors may be inputs or outputs.
    if (!net.variant->debugTensors.empty())
      net.ports = std::move(places);
    if (Status status = net.vm->submit(); !status)
      return status;
    for (auto *indices : {inputIndices, computedIndices})
      for (IndexUse &index : indices(*net.vm, *net.variant))
        if (Status status = kernels.check(std::move(index)); !status)
          return status;
    return {};
  }

private:
  Status bindState(ProgramKernels::Net &net) {
    if (!kernels.state())
      return Failure{"the net '" + net.variant->program.name + "' has state, the run has none"};
    return kernels.state()->bind(*net.vm);
  }

  ProgramKernels &kernels;
  TensorMemory &memory;
  std::vector<ProgramKernels::Net *> variants;
};

/// A view of one row of a tensor, sharing its memory.
class RowView : public Kernel {
public:
  RowView(TensorMemory &memory, std::shared_ptr<Kernel> onHost) : memory(memory), onHost(std::move(onHost)) {}
  bool knowsResidences() const override { return true; }

  Status run(std::span<const Value> operands, std::span<Value> results) override {
    Tensor &all = *operands[0].tensor;
    int64_t index = operands[1].bits;
    auto there = std::dynamic_pointer_cast<DeviceTensor>(all.residence);
    std::vector<int64_t> shape(all.shape.begin() + 1, all.shape.end());
    if (!there && all.isConstant && all.shape[0] > 0) {
      auto type =
          all.element == ElementType::I64 || all.element == ElementType::Boolean ? ElementType::I32 : all.element;
      // Values that the storage type cannot represent stay on the host, row by row.
      if (auto place = onDevice(memory, all, type))
        there = place.take();
    }
    if (!there) {
      if (Status status = all.fetch(); !status)
        return status;
      return onHost->run(operands, results);
    }
    if (index < 0 || index >= all.shape[0])
      return Failure{"row " + std::to_string(index) + " of " + std::to_string(all.shape[0])};
    uint64_t elements = elementsOf(all.shape) / uint64_t(all.shape[0]);
    results[0] =
        Value::of(deviceTensor(all.element, std::move(shape), there->part(uint64_t(index) * elements, elements)));
    return {};
  }

private:
  TensorMemory &memory;
  std::shared_ptr<Kernel> onHost;
};

/// Host memory that queued copies will write.
class PendingRows : public bytecode::Residence {
public:
  PendingRows(TensorMemory &memory, std::shared_ptr<std::byte[]> data, uint64_t bytes)
      : data(std::move(data)), memory(memory), bytes(bytes) {}
  Result<std::shared_ptr<std::byte[]>> fetch() override {
    if (Status status = memory.wait({uint64_t(reinterpret_cast<uintptr_t>(data.get())), bytes}, /*isWrite=*/false);
        !status)
      return status.failure();
    return data;
  }
  std::shared_ptr<std::byte[]> data;

private:
  TensorMemory &memory;
  uint64_t bytes;
};

/// An asynchronous host.put: does not wait for the row.
class PutRow : public Kernel {
public:
  PutRow(ProgramKernels &kernels, TensorMemory &memory, std::shared_ptr<Kernel> onHost)
      : kernels(kernels), memory(memory), onHost(std::move(onHost)) {}
  bool knowsResidences() const override { return true; }

  Status run(std::span<const Value> operands, std::span<Value> results) override {
    Tensor &all = *operands[0].tensor, &row = *operands[2].tensor;
    int64_t index = operands[1].bits;
    auto there = std::dynamic_pointer_cast<DeviceTensor>(row.residence);
    bool isRow = index >= 0 && index < all.shape[0] &&
                 std::equal(all.shape.begin() + 1, all.shape.end(), row.shape.begin(), row.shape.end());
    if (!there || row.data || !isRow || !memory.loaded().tasks) {
      for (Tensor *tensor : {&all, &row})
        if (Status status = tensor->fetch(); !status)
          return status;
      return onHost->run(operands, results);
    }
    auto pending = std::dynamic_pointer_cast<PendingRows>(all.residence);
    if (!pending) {
      if (Status status = all.fetch(); !status)
        return status;
      all.residence = pending = std::make_shared<PendingRows>(memory, all.data, all.bytes);
    }
    // A later fetch waits for the copy.
    all.data.reset();
    return kernels.copyToHost(*there, pending->data.get() + uint64_t(index) * row.bytes, row.bytes, pending->data);
  }

private:
  ProgramKernels &kernels;
  TensorMemory &memory;
  std::shared_ptr<Kernel> onHost;
};

bool mayBe(const std::vector<TensorDesc> &tensors, const std::vector<Type> &types) {
  return std::equal(
      tensors.begin(), tensors.end(), types.begin(), types.end(), [](const TensorDesc &tensor, const Type &type) {
        return isRefinedBy(type, {tensor.type, true, std::vector<int64_t>(tensor.shape.begin(), tensor.shape.end())});
      });
}

} // namespace

Result<std::shared_ptr<ProgramKernels>> ProgramKernels::make(LoadedModel &model) {
  std::shared_ptr<ProgramKernels> kernels(new ProgramKernels(model));
  if (!model.tasks)
    return kernels;
  auto id = model.tasks->registerKernel("copy to host", [kernels = kernels.get()](tasks::KernelCall &call) {
    auto type = ElementType(call.args[2]), storage = ElementType(call.args[3]);
    uint64_t elements = call.args[4];
    pto_arg from{call.args[0], *tensorBytes(storage, {elements})};
    Status status = DeviceTensor::copy(kernels->memory.device(), from, storage,
                                       reinterpret_cast<std::byte *>(uintptr_t(call.args[1])), type, elements);
    call.costNs = from.bytes / kHostBytesPerNs;
    kernels->taskFailure.check(status);
  });
  if (!id)
    return id.failure();
  kernels->copyKernel = *id;
  id = model.tasks->registerKernel("check index", [kernels = kernels.get()](tasks::KernelCall &call) {
    const auto &index = *reinterpret_cast<const IndexUse *>(uintptr_t(call.args[1]));
    call.costNs = index.memory.bytes / kHostBytesPerNs;
    kernels->taskFailure.check(checkIndex(kernels->memory.device(), index));
  });
  if (!id)
    return id.failure();
  kernels->checkKernel = *id;
  return kernels;
}

Status ProgramKernels::copyToHost(const DeviceTensor &from, std::byte *to, uint64_t bytes,
                                  std::shared_ptr<std::byte[]> owner) {
  pto_arg place = from.memory();
  tasks::TaskSpec spec(copyKernel, tasks::WorkerKind::AiCpu);
  spec.input(tasks::Tensor::dense(place.address, 1, {int64_t(place.bytes)}))
      .output(tasks::Tensor::dense(to, 1, {int64_t(bytes)}));
  spec.scalar(uint64_t(from.hostType())).scalar(uint64_t(from.storageType())).scalar(from.numElements());
  if (inFlight.empty() || inFlight.back() != owner)
    inFlight.push_back(std::move(owner));
  auto task = memory.loaded().tasks->submit(spec);
  return task ? Status() : Status(task.failure());
}

Status ProgramKernels::check(IndexUse index) {
  auto *runtime = memory.loaded().tasks.get();
  if (!runtime) {
    if (Status status = memory.device().synchronize(); !status)
      return status;
    return checkIndex(memory.device(), index);
  }
  checks.push_back(std::move(index));
  const pto_arg &place = checks.back().memory;
  tasks::TaskSpec spec(checkKernel, tasks::WorkerKind::AiCpu);
  spec.input(tasks::Tensor::dense(place.address, 1, {int64_t(place.bytes)}))
      .scalar(uint64_t(reinterpret_cast<uintptr_t>(&checks.back())));
  auto task = runtime->submit(spec);
  return task ? Status() : Status(task.failure());
}

Result<std::shared_ptr<Kernel>> ProgramKernels::resolve(const KernelKey &key, const std::string &name) {
  if (key.place() != "device") {
    auto kernel = HostProvider::resolve(key, name);
    if (kernel && key.callee == "host.row")
      return std::shared_ptr<Kernel>(std::make_shared<RowView>(memory, kernel.take()));
    if (kernel && key.callee == "host.put")
      return std::shared_ptr<Kernel>(std::make_shared<PutRow>(*this, memory, kernel.take()));
    return kernel;
  }
  if (bytecode::directionsOf(key)) {
    auto kernel = SubmittedKernel::make(memory, key);
    if (!kernel)
      return kernel.failure();
    submitted.push_back(*kernel);
    return std::shared_ptr<Kernel>(kernel.take());
  }
  LoadedModel &model = memory.loaded();
  std::vector<Net *> variants;
  for (const NetDesc &desc : model.file->model().nets) {
    if (desc.name != key.op())
      continue;
    for (const VariantDesc &variant : desc.variants) {
      if (!mayBe(variant.inputs, key.operands) || !mayBe(variant.outputs, key.results))
        continue;
      std::unique_ptr<Net> &net = nets[&variant];
      if (!variant.program.ranks.empty())
        return Failure{"@" + key.callee + " is a program of several ranks, which no other program can call"};
      if (!net) {
        auto vm = model.prepare(variant, Ports::Bound);
        if (!vm)
          return vm.failure();
        net = std::make_unique<Net>();
        net->variant = &variant;
        net->vm = vm.take();
      }
      variants.push_back(net.get());
    }
  }
  return std::shared_ptr<Kernel>(std::make_shared<NetKernel>(*this, memory, std::move(variants)));
}

void ProgramKernels::beginRun(const ModelState::Impl *state) {
  runState = state;
  inFlight.clear();
  checks.clear();
  taskFailure.clear();
  taskIds.clear();
  memory.ranked().clear(); // of a run that failed
  memory.ranked().clearTrace();
  for (const std::shared_ptr<SubmittedKernel> &kernel : submitted)
    kernel->beginRun();
  for (auto &[variant, net] : nets) {
    net->isCalled = false;
    if (StepTasks *steps = net->vm->stepTasks())
      steps->beginRun();
  }
}

std::string ProgramKernels::failureText() const {
  for (auto &[variant, net] : nets)
    if (StepTasks *steps = net->vm->stepTasks(); steps && !steps->failureText().empty())
      return steps->failureText();
  for (const std::shared_ptr<SubmittedKernel> &kernel : submitted)
    if (std::string text = kernel->failureText(); !text.empty())
      return text;
  return taskFailure.text();
}

Status ProgramKernels::forEachCalled(const std::function<Status(VM &, const VariantDesc &)> &visit) {
  for (auto &[variant, net] : nets)
    if (net->isCalled)
      if (Status status = visit(*net->vm, *variant); !status)
        return status;
  return {};
}

} // namespace pto_mlir::runtime
