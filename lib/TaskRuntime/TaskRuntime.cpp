#include "pto_mlir/TaskRuntime/TaskRuntime.h"

#include "InsideKernel.h"
#include "ThreadedDriver.h"
#include "VirtualDriver.h"

#include <chrono>
#include <thread>

namespace pto_mlir::tasks {

TaskRuntime::TaskRuntime(const Config &config) : settings(config), registered(std::make_shared<std::vector<Kernel>>()) {
  // Reserved up front, since cores keep pointers to kernels.
  registered->reserve(1 << 16);
  auto use = [&](auto made) {
    auto *raw = made.get();
    core = &raw->core();
    collectTrace = [raw](Trace &trace) { raw->collectTrace(trace); };
    driver = std::move(made);
    return raw;
  };
  if (settings.mode == Mode::VirtualTime) {
    use(std::make_unique<VirtualDriver>(settings, registered));
    busyCores = [] { return std::vector<uint32_t>(); };
  } else {
    ThreadedDriver *threads = use(std::make_unique<ThreadedDriver>(settings, registered));
    busyCores = [threads] { return threads->busyCores(); };
  }
  core->tracing = settings.trace;
}

TaskRuntime::~TaskRuntime() {
  if (running) {
    core->fatal(ErrorCode::UserFatal, "the runtime was destroyed during a run");
    core->finishRun();
  }
}

Result<std::unique_ptr<TaskRuntime>> TaskRuntime::create(const Config &config) {
  if (Status status = config.check(); !status)
    return Failure{"task runtime: " + status.error()};
  return std::unique_ptr<TaskRuntime>(new TaskRuntime(config));
}

Result<KernelId> TaskRuntime::registerKernel(std::string name, KernelBody body, uint64_t costNs) {
  if (running)
    return Failure{"kernel '" + name + "': kernels are registered between runs"};
  if (!body)
    return Failure{"kernel '" + name + "' has no body"};
  if (registered->size() == registered->capacity())
    return Failure{"more than " + std::to_string(registered->capacity()) + " kernels"};
  registered->push_back({std::move(name), std::move(body), costNs});
  return KernelId(registered->size() - 1);
}

Status TaskRuntime::begin() {
  if (running)
    return Failure{"a run has begun already"};
  if (insideKernel())
    return Failure{"a kernel cannot begin a run"};
  // Tasks left by an earlier run may have completed meanwhile, or be about to.
  for (int i = 0; i < 100 && (!busyCores().empty() || !core->drained()); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  if (!busyCores().empty() || !core->drained()) {
    core->refuse("an earlier run left a kernel that has not returned");
    return Failure{core->error().message};
  }
  Trace left;
  collectTrace(left);
  core->beginRun();
  driver->beginRun();
  running = true;
  return {};
}

void TaskRuntime::cancel() {
  core->fatal(ErrorCode::UserFatal, "the run was cancelled");
  core->cancel();
}

Status TaskRuntime::finish() {
  if (!running)
    return Failure{"no run has begun"};
  core->finishRun();
  running = false;
  if (core->tracing && core->drained()) {
    collectTrace(core->trace);
    core->trace.end = driver->now();
  }
  RunError error = core->error();
  if (error.code != ErrorCode::None)
    return Failure{error.message};
  return {};
}

Status TaskRuntime::run(const std::function<void(TaskRuntime &)> &orchestrate) {
  if (Status status = begin(); !status)
    return status;
  try {
    orchestrate(*this);
  } catch (...) {
    core->fatal(ErrorCode::UserFatal, "the orchestrator threw an exception");
    (void)finish();
    throw;
  }
  return finish();
}

} // namespace pto_mlir::tasks
