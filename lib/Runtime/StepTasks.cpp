#include "StepTasks.h"

#include "TaskSettings.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace pto_mlir::runtime {

using tasks::TaskRuntime;
using tasks::TaskSpec;
using tasks::WorkerKind;

static std::array<uint32_t, 4> coresOf(uint32_t blocks) { return {blocks, 2 * blocks, 1, 0}; }

Result<std::unique_ptr<TaskRuntime>> makeTaskRuntime(uint32_t numCore, uint32_t threads, bool trace) {
  uint32_t blocks = std::clamp<uint32_t>(numCore, 1, tasks::kMaxCoresPerKind / 2);
  tasks::Config config = threadedConfig(coresOf(blocks), threads ? std::min(threads, 3 * blocks + 1) : 0);
  config.trace = trace;
  return TaskRuntime::create(config);
}

Result<std::unique_ptr<TaskRuntime>> makeVirtualRuntime(uint32_t blocks, bool trace) {
  if (blocks == 0 || blocks > tasks::kMaxCoresPerKind / 2)
    return Failure{"cannot simulate a machine of " + std::to_string(blocks) + " blocks: 1 to " +
                   std::to_string(tasks::kMaxCoresPerKind / 2)};
  tasks::Config config = programConfig(coresOf(blocks));
  config.trace = trace;
  config.mode = tasks::Mode::VirtualTime;
  return TaskRuntime::create(config);
}

void StepTasks::describe(Step &step) {
  step.spec.clear();
  if (!isNamed(step.arguments, step.scalars, step.sizes)) { // unknown accesses: ordered against all other tasks
    step.spec.inout(tasks::Tensor::dense(uint64_t(0), 1, {INT64_MAX}));
    return;
  }
  for (size_t i = 0; i < step.arguments.size(); ++i) {
    auto tensor = tasks::Tensor::dense(step.arguments[i].address, 1, {int64_t(step.arguments[i].bytes)});
    // An unused argument is added as well, since tasks read addresses by index.
    if (step.uses[i].read && step.uses[i].written)
      step.spec.inout(tensor);
    else if (step.uses[i].written)
      step.spec.output(tensor);
    else if (step.uses[i].read)
      step.spec.input(tensor);
    else
      step.spec.scalar(step.arguments[i].address);
  }
  for (int64_t scalar : step.scalars)
    step.spec.scalar(uint64_t(scalar));
  if (step.sizes == Sizes::Bound)
    for (const pto_arg &argument : step.arguments)
      step.spec.scalar(argument.bytes);
}

Status StepTasks::add(const std::string &name, WorkerKind kind, uint32_t blocks, Arguments arguments, Scalars scalars,
                      std::vector<pmodel::KernelUse::Argument> uses, Work work, Sizes bound) {
  using Clock = std::chrono::steady_clock;
  size_t index = steps.size();
  auto kernel = runtime.registerKernel(
      name, [this, index, sizes = arguments, numbers = scalars, work = std::move(work)](tasks::KernelCall &call) {
        auto begin = Clock::now();
        Step &step = steps[index];
        Status status;
        if (isNamed(sizes, numbers, step.sizes)) {
          Arguments actual = sizes;
          for (size_t i = 0; i < actual.size(); ++i)
            actual[i].address = call.args[i];
          Scalars now = numbers;
          for (size_t i = 0; i < now.size(); ++i)
            now[i] = int64_t(call.args[sizes.size() + i]);
          for (size_t i = 0; step.sizes == Sizes::Bound && i < actual.size(); ++i)
            actual[i].bytes = call.args[sizes.size() + numbers.size() + i];
          status = work(call, actual, now);
        } else {
          status = work(call, step.arguments, step.scalars);
        }
        step.workedNs += uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count());
        failure.check(status || step.place.empty() ? status : Failure{status.error() + "; launched at " + step.place});
      });
  if (!kernel)
    return kernel.failure();
  steps.emplace_back(TaskSpec(*kernel, kind), blocks, std::move(arguments), std::move(scalars), std::move(uses));
  steps.back().sizes = bound;
  describe(steps.back());
  return {};
}

Status StepTasks::bind(size_t index, Arguments arguments, Scalars scalars, std::span<const tasks::TaskId> after) {
  Step &step = steps[index];
  if (!isNamed(step.arguments, step.scalars, step.sizes) && step.last)
    if (Status status = runtime.wait(step.last); !status)
      return status;
  step.arguments = std::move(arguments);
  step.scalars = std::move(scalars);
  describe(step);
  for (tasks::TaskId task : after)
    step.spec.after(task);
  return {};
}

Status StepTasks::addLaunch(const std::string &name, const std::string &tensors, const pmodel::KernelUse &use,
                            uint32_t kernel, uint32_t blocks, std::vector<pto_arg> arguments,
                            std::vector<int64_t> scalars, Sizes sizes) {
  uint32_t cores = use.coresPerBlock() * blocks;
  uint32_t taskBlocks = (use.ordered && !isVirtual()) || cores == 0 ? 1 : use.cube ? blocks : cores;
  Work work;
  if (isVirtual())
    work = [this, kernel, blocks, cores, seconds = std::vector<double>()](
               tasks::KernelCall &call, const Arguments &arguments, const Scalars &scalars) mutable -> Status {
      if (call.block == 0) {
        auto measured = device.timedLaunch(kernel, blocks, cores, arguments, scalars);
        if (!measured)
          return measured.failure();
        seconds = measured.take();
      }
      // The cores of a block run concurrently, so the slowest one determines the cost.
      auto mine = seconds.begin() + call.block * (cores / call.numBlocks);
      double longest = cores ? *std::max_element(mine, mine + cores / call.numBlocks) : 0;
      call.costNs = uint64_t(std::llround((device.dispatchSeconds() + longest) * 1e9));
      return {};
    };
  else
    work = [this, kernel, blocks, cores](tasks::KernelCall &call, const Arguments &arguments,
                                         const Scalars &scalars) -> Status {
      uint32_t together = cores / call.numBlocks; // cores simulated one after the other by this block
      for (uint32_t core = call.block * together; core < (call.block + 1) * together; ++core)
        if (Status status = device.runCore(kernel, blocks, core, arguments, scalars); !status)
          return status;
      return {};
    };
  if (Status status = add(name, use.cube ? WorkerKind::Cube : WorkerKind::Vector, taskBlocks, std::move(arguments),
                          std::move(scalars), use.arguments, std::move(work), sizes);
      !status)
    return status;
  Step &step = steps.back();
  if (isVirtual())
    step.companions = use.cube && use.vector ? 2 : 0;
  step.name = tensors;
  if (!tensors.empty())
    step.spec.called(step.name.c_str());
  return {};
}

Status StepTasks::addHostOp(const std::string &name, std::vector<pto_arg> buffers, HostWork work) {
  std::vector<pmodel::KernelUse::Argument> uses(buffers.size(), {true, false});
  if (!uses.empty())
    uses.back() = {false, true};
  uint64_t bytes = 0;
  for (const pto_arg &buffer : buffers)
    bytes += buffer.bytes;
  return add(name, WorkerKind::AiCpu, 1, buffers, {}, uses,
             [work = std::move(work), bytes](tasks::KernelCall &call, const Arguments &arguments, const Scalars &) {
               call.costNs = bytes / kHostBytesPerNs;
               return work(arguments);
             });
}

void StepTasks::beginRun() {
  failure.clear();
  for (Step &step : steps)
    step.last = {};
}

Status StepTasks::submit() {
  for (Step &step : steps) {
    // A step shorter than a thread's wake-up latency (ns) is not split across threads.
    constexpr uint64_t shortest = 30000;
    uint64_t worked = step.workedNs.exchange(0);
    step.spec.blocks(worked && worked < shortest && !isVirtual() ? 1 : step.blocks).companions(step.companions);
    auto task = runtime.submit(step.spec);
    if (!task)
      return task.failure();
    step.last = *task;
  }
  return {};
}

Status StepTasks::run() {
  beginRun();
  Status status = runtime.run([&](TaskRuntime &) { (void)submit(); });
  std::string said = failure.text();
  return said.empty() ? status : Status(Failure{said});
}

} // namespace pto_mlir::runtime
