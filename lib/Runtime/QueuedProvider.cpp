#include "pto_mlir/Runtime/QueuedProvider.h"

#include "TaskSettings.h"

namespace pto_mlir::runtime {

using bytecode::Kernel;
using bytecode::KernelKey;
using bytecode::TensorPtr;
using bytecode::Type;
using bytecode::Value;

QueuedProvider::~QueuedProvider() {
  if (isOpen)
    (void)finish();
}

Result<std::shared_ptr<QueuedProvider>> QueuedProvider::make(std::shared_ptr<bytecode::KernelProvider> kernels,
                                                             uint32_t threads, bool mayBlock) {
  std::shared_ptr<QueuedProvider> provider(new QueuedProvider(std::move(kernels)));
  // One simulated core per concurrent launch; cores are identities shared by the threads.
  tasks::Config config = threadedConfig({0, 0, mayBlock ? threads : 8, 0}, threads);
  config.submitterWorks = !mayBlock;
  auto runtime = tasks::TaskRuntime::create(config);
  if (!runtime)
    return runtime.failure();
  provider->runtime = runtime.take();
  auto body = provider->runtime->registerKernel("launch", [self = provider.get()](tasks::KernelCall &call) {
    Launch &launch = *reinterpret_cast<Launch *>(uintptr_t(call.args[0]));
    std::vector<Value> made(launch.results.size());
    Status status = launch.kernel->run(launch.operands, made);
    for (size_t i = 0; status && i < made.size(); ++i) {
      const bytecode::Tensor &wanted = *launch.results[i].tensor;
      if (made[i].tensor && made[i].tensor->shape == wanted.shape && made[i].tensor->element == wanted.element)
        launch.results[i].tensor->data = made[i].tensor->data;
      else
        status = Failure{"result " + std::to_string(i) + " has another type than the program says"};
    }
    launch.operands.clear();
    launch.results.clear();
    self->failure.check(status);
  });
  if (!body)
    return body.failure();
  provider->body = *body;
  return provider;
}

Result<std::shared_ptr<Kernel>> QueuedProvider::resolve(const KernelKey &key, const std::string &name) {
  auto kernel = kernels->resolve(key, name);
  if (kernel)
    resultTypes[kernel->get()] = key.results;
  return kernel;
}

Status QueuedProvider::launch(Kernel &kernel, uint32_t queue, std::span<const Value> operands,
                              std::span<Value> results) {
  const std::vector<Type> &types = resultTypes[&kernel];
  for (const Type &type : types)
    if (!type.isTensor || !type.isStatic()) {
      if (Status status = wait(kAllQueues); !status)
        return status;
      return kernel.run(operands, results);
    }
  if (!isOpen) {
    if (Status status = runtime->begin(); !status)
      return status;
    isOpen = true;
  }
  Launch &made = launches.emplace_back(Launch{&kernel, {operands.begin(), operands.end()}, {}});
  tasks::TaskSpec spec(body, tasks::WorkerKind::AiCpu);
  spec.scalar(uint64_t(reinterpret_cast<uintptr_t>(&made)));
  if (tasks::TaskId before = last[queue])
    spec.after(before);
  if (fence)
    spec.after(fence);
  for (const Value &operand : operands)
    if (auto maker = makers.find(operand.tensor.get()); operand.tensor && maker != makers.end())
      spec.after(maker->second);
  std::vector<const bytecode::Tensor *> placed;
  for (size_t i = 0; i < types.size(); ++i) {
    auto tensor = std::make_shared<bytecode::Tensor>();
    tensor->element = types[i].element;
    tensor->shape = types[i].shape;
    tensor->bytes = *tensorBytes(types[i].element, std::vector<uint64_t>(types[i].shape.begin(), types[i].shape.end()));
    made.results.push_back(Value::of(tensor));
    results[i] = made.results.back();
    placed.push_back(tensor.get());
  }
  auto task = runtime->submit(spec);
  if (!task)
    return Failure{failure.text().empty() ? task.error() : failure.text()};
  last[queue] = *task;
  for (const bytecode::Tensor *tensor : placed)
    makers[tensor] = *task;
  return {};
}

Status QueuedProvider::finish() {
  Status status = runtime->finish();
  isOpen = false;
  fence = {};
  last.clear();
  makers.clear();
  launches.clear();
  std::string said = failure.text();
  failure.clear();
  return said.empty() ? status : Status(Failure{said});
}

Status QueuedProvider::wait(uint32_t queue) {
  if (!isOpen)
    return {};
  if (queue == kAllQueues)
    return finish();
  auto task = last.find(queue);
  return task == last.end() ? Status() : runtime->wait(task->second);
}

Status QueuedProvider::barrier() {
  if (!isOpen)
    return {};
  auto spec = tasks::TaskSpec::barrier();
  for (const auto &[queue, task] : last)
    spec.after(task);
  auto task = runtime->submit(std::move(spec));
  if (!task)
    return task.failure();
  fence = *task;
  return {};
}

} // namespace pto_mlir::runtime
