#include "pto_mlir/TaskRuntime/CApi.h"

#include "pto_mlir/TaskRuntime/TaskRuntime.h"

#include <stdexcept>

using namespace pto_mlir;
using namespace pto_mlir::tasks;

struct pto_tasks {
  std::unique_ptr<TaskRuntime> runtime;
};

namespace {

thread_local std::string lastError;

int fail(std::string message) {
  lastError = std::move(message);
  return 1;
}
int from(const Status &status) { return status ? 0 : fail(status.error()); }

/// Exceptions must not propagate into C callers.
template <class Body> int guarded(Body &&body) {
  try {
    return body();
  } catch (const std::exception &exception) {
    return fail(exception.what());
  }
}

} // namespace

int pto_tasks_create(const pto_tasks_options *options, pto_tasks **runtime) {
  if (!options || !runtime)
    return fail("pto_tasks_create needs options and a place for the runtime");
  Config config;
  for (unsigned kind = 0; kind < kNumWorkerKinds; ++kind)
    config.cores[kind] = options->cores[kind];
  if (options->window)
    config.window.fill(options->window);
  if (options->heap_bytes)
    config.heapBytes.fill(options->heap_bytes);
  if (options->dependency_entries)
    config.dependencyEntries = options->dependency_entries;
  config.schedulers = options->schedulers;
  config.workerThreads = options->worker_threads;
  config.mode = options->virtual_time ? Mode::VirtualTime : Mode::Threads;
  config.trace = options->trace != 0;
  if (options->hang_ms)
    config.hangMs = options->hang_ms;
  return guarded([&] {
    auto made = TaskRuntime::create(config);
    if (!made)
      return fail(made.error());
    *runtime = new pto_tasks{made.take()};
    return 0;
  });
}

void pto_tasks_destroy(pto_tasks *runtime) { delete runtime; }

int pto_tasks_register_kernel(pto_tasks *runtime, const char *name, pto_kernel_body body, void *user, uint64_t cost_ns,
                              uint32_t *kernel) {
  if (!runtime || !name || !body || !kernel)
    return fail("pto_tasks_register_kernel needs a runtime, a name, a body and a place for the kernel");
  return guarded([&] {
    auto wrapped = [body, user](KernelCall &call) {
      pto_kernel_call plain = {call.args, call.numArgs, call.block, call.numBlocks, call.core, call.task.value};
      if (int code = body(user, &plain))
        throw std::runtime_error("the kernel returned " + std::to_string(code));
    };
    auto id = runtime->runtime->registerKernel(name, wrapped, cost_ns);
    if (!id)
      return fail(id.error());
    *kernel = *id;
    return 0;
  });
}

int pto_tasks_begin(pto_tasks *runtime) {
  return runtime ? from(runtime->runtime->begin()) : fail("there is no runtime");
}

int pto_tasks_submit(pto_tasks *runtime, pto_task_spec *plain, pto_task_id *task) {
  if (!runtime || !plain || !task || (plain->num_args && !plain->args) || (plain->num_after && !plain->after))
    return fail("pto_tasks_submit needs a runtime, a spec with its arrays and a place for the task");
  return guarded([&] {
    TaskSpec spec(plain->kernel, WorkerKind(uint8_t(std::min<uint32_t>(plain->worker_kind, 255))));
    for (size_t i = 0; i < plain->num_args; ++i) {
      const pto_task_arg &arg = plain->args[i];
      uint32_t element = arg.element_bytes ? arg.element_bytes : 1;
      if (arg.kind != PTO_ARG_SCALAR && arg.bytes % element)
        return fail("argument " + std::to_string(i) + " has " + std::to_string(arg.bytes) +
                    " bytes, no multiple of its element size");
      Tensor tensor = Tensor::dense(arg.word, element, {int64_t(arg.bytes / element)});
      tensor.owner = TaskId{arg.owner};
      switch (arg.kind) {
      case PTO_ARG_SCALAR:
        spec.scalar(arg.word);
        break;
      case PTO_ARG_INPUT:
        spec.input(tensor);
        break;
      case PTO_ARG_OUTPUT:
        spec.output(tensor);
        break;
      case PTO_ARG_INOUT:
        spec.inout(tensor);
        break;
      case PTO_ARG_ALLOCATE:
        spec.allocate(element, {int64_t(arg.bytes / element)});
        break;
      default:
        return fail("argument " + std::to_string(i) + " has kind " + std::to_string(arg.kind) +
                    ", expected PTO_ARG_..");
      }
    }
    for (size_t i = 0; i < plain->num_after; ++i)
      spec.after(TaskId{plain->after[i]});
    spec.blocks(plain->blocks ? plain->blocks : 1, plain->gang != 0);
    if (plain->name)
      spec.called(plain->name);
    if (const pto_task_predicate &only = plain->predicate; only.bytes) {
      if (only.comparison > PTO_IS_AT_MOST)
        return fail("the predicate has comparison " + std::to_string(only.comparison) + ", expected PTO_IS_..");
      spec.onlyIf(Tensor::dense(only.address, only.bytes, {1}), Comparison(only.comparison), only.target);
    }
    auto id = runtime->runtime->submit(spec);
    if (!id)
      return fail(id.error());
    *task = id->value;
    size_t output = 0;
    for (size_t i = 0; i < plain->num_args; ++i)
      if (plain->args[i].kind == PTO_ARG_ALLOCATE) {
        plain->args[i].word = spec.outputs()[output++].address;
        plain->args[i].owner = id->value;
      }
    return 0;
  });
}

int pto_tasks_scope_begin(pto_tasks *runtime) {
  return runtime ? from(runtime->runtime->scopeBegin()) : fail("there is no runtime");
}
int pto_tasks_scope_end(pto_tasks *runtime) {
  return runtime ? from(runtime->runtime->scopeEnd()) : fail("there is no runtime");
}
int pto_tasks_wait(pto_tasks *runtime, pto_task_id task) {
  return runtime ? from(runtime->runtime->wait(TaskId{task})) : fail("there is no runtime");
}
int pto_tasks_wait_to_read(pto_tasks *runtime, uint64_t address, uint64_t bytes) {
  if (!runtime)
    return fail("there is no runtime");
  return from(runtime->runtime->waitToRead(Tensor::dense(address, 1, {int64_t(bytes)})));
}
int pto_tasks_finish(pto_tasks *runtime) {
  return runtime ? from(runtime->runtime->finish()) : fail("there is no runtime");
}
int pto_tasks_state(const pto_tasks *runtime, pto_task_id task) {
  return runtime ? int(runtime->runtime->state(TaskId{task})) : PTO_TASK_FREE;
}
int pto_tasks_error_code(const pto_tasks *runtime) { return runtime ? int(runtime->runtime->error().code) : 0; }

int pto_tasks_statistics(const pto_tasks *runtime, pto_tasks_stats *stats) {
  if (!runtime || !stats)
    return fail("pto_tasks_statistics needs a runtime and a place for the numbers");
  Statistics counted = runtime->runtime->statistics();
  *stats = {counted.submitted, counted.completed,  counted.failed,   counted.skipped,
            counted.edges,     counted.slotReuses, counted.blockedNs};
  return 0;
}

int pto_tasks_write_trace(const pto_tasks *runtime, const char *path) {
  if (!runtime || !path)
    return fail("pto_tasks_write_trace needs a runtime and a path");
  return guarded([&] { return from(runtime->runtime->trace().writeJson(path)); });
}

const char *pto_tasks_last_error(void) { return lastError.c_str(); }
