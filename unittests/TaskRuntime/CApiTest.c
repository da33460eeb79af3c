/* The whole C API from a C program; returns the number of the line at which something was wrong, or 0. */
#include "pto_mlir/TaskRuntime/CApi.h"

#include <stdatomic.h>
#include <string.h>

int pto_test_c_api(const char *trace);

static int add_one(void *user, const pto_kernel_call *call) {
  float *in = (float *)(uintptr_t)call->args[0], *out = (float *)(uintptr_t)call->args[1];
  out[0] = in[0] + 1.0f;
  atomic_fetch_add((atomic_int *)user, 1); /* Two workers may run it at the same time. */
  return 0;
}

static int broken(void *user, const pto_kernel_call *call) {
  (void)user;
  (void)call;
  return 42;
}

#define CHECK(condition)                                                                                               \
  if (!(condition))                                                                                                    \
  return __LINE__

int pto_test_c_api(const char *trace) {
  pto_tasks_options options = {{0, 2, 1, 0}, 16, 1 << 16, 256, 1, 2, 0, 1, 0};
  pto_tasks *runtime = 0;
  atomic_int calls = 0;
  uint32_t kernel, bad;
  CHECK(pto_tasks_create(&options, &runtime) == 0);
  CHECK(pto_tasks_register_kernel(runtime, "add_one", add_one, &calls, 10, &kernel) == 0);
  CHECK(pto_tasks_register_kernel(runtime, "broken", broken, 0, 10, &bad) == 0);

  float value = 1.0f, result = 0.0f;
  CHECK(pto_tasks_begin(runtime) == 0);
  CHECK(pto_tasks_scope_begin(runtime) == 0);
  pto_task_id first, second;
  pto_task_arg args[2] = {{PTO_ARG_INPUT, 4, (uint64_t)(uintptr_t)&value, 4, 0}, {PTO_ARG_ALLOCATE, 4, 0, 4, 0}};
  pto_task_spec spec = {kernel, PTO_WORKER_VECTOR, 0, 0, args, 2, 0, 0, "first", {0, 0, 0, 0}};
  CHECK(pto_tasks_submit(runtime, &spec, &first) == 0);
  CHECK(args[1].word != 0 && args[1].owner == first);
  pto_task_arg next[2] = {{PTO_ARG_INPUT, 4, args[1].word, 4, args[1].owner},
                          {PTO_ARG_OUTPUT, 4, (uint64_t)(uintptr_t)&result, 4, 0}};
  spec.args = next;
  CHECK(pto_tasks_submit(runtime, &spec, &second) == 0);
  CHECK(pto_tasks_wait(runtime, second) == 0);
  CHECK(result == 3.0f);
  CHECK(pto_tasks_state(runtime, second) >= PTO_TASK_COMPLETED);
  CHECK(pto_tasks_scope_end(runtime) == 0);
  CHECK(pto_tasks_finish(runtime) == 0);
  CHECK(calls == 2);
  pto_tasks_stats stats;
  CHECK(pto_tasks_statistics(runtime, &stats) == 0);
  CHECK(stats.submitted == 2 && stats.completed == 2 && stats.failed == 0);
  CHECK(pto_tasks_write_trace(runtime, trace) == 0);
  CHECK(pto_tasks_write_trace(runtime, "/nonexistent/folder/t.json") == 1);

  /* A task that runs only if an integer that another one writes is not zero, or is. */
  int32_t flags[2] = {0, 1};
  float sums[4] = {0};
  CHECK(pto_tasks_begin(runtime) == 0);
  for (int i = 0; i < 4; ++i) {
    next[0].word = (uint64_t)(uintptr_t)&value;
    next[0].owner = 0;
    next[1].word = (uint64_t)(uintptr_t)&sums[i];
    spec.predicate.address = (uint64_t)(uintptr_t)&flags[i / 2];
    spec.predicate.bytes = 4;
    spec.predicate.comparison = i % 2 ? PTO_IS : PTO_IS_NOT;
    CHECK(pto_tasks_submit(runtime, &spec, &first) == 0);
  }
  CHECK(pto_tasks_wait_to_read(runtime, (uint64_t)(uintptr_t)&sums[2], 4) == 0);
  CHECK(sums[2] == 2.0f);
  CHECK(pto_tasks_wait_to_read(0, 0, 0) == 1);
  CHECK(pto_tasks_finish(runtime) == 0);
  CHECK(sums[0] == 0.0f && sums[1] == 2.0f && sums[3] == 0.0f);

  /* Comparisons of a negative number: which of them are below, at least, above -3, no more than -3. */
  int16_t number = -4;
  float compared[4] = {0};
  const uint32_t comparisons[4] = {PTO_IS_BELOW, PTO_IS_AT_LEAST, PTO_IS_ABOVE, PTO_IS_AT_MOST};
  CHECK(pto_tasks_begin(runtime) == 0);
  for (int i = 0; i < 4; ++i) {
    next[1].word = (uint64_t)(uintptr_t)&compared[i];
    spec.predicate.address = (uint64_t)(uintptr_t)&number;
    spec.predicate.bytes = 2;
    spec.predicate.comparison = comparisons[i];
    spec.predicate.target = -3;
    CHECK(pto_tasks_submit(runtime, &spec, &first) == 0);
  }
  spec.predicate.comparison = 6;
  CHECK(pto_tasks_submit(runtime, &spec, &first) == 1);
  CHECK(strstr(pto_tasks_last_error(), "the predicate has comparison 6, expected PTO_IS_..") != 0);
  CHECK(pto_tasks_finish(runtime) == 0);
  CHECK(compared[0] == 2.0f && compared[1] == 0.0f && compared[2] == 0.0f && compared[3] == 2.0f);

  CHECK(pto_tasks_begin(runtime) == 0);
  pto_task_spec failing = {bad, PTO_WORKER_AI_CPU, 0, 0, 0, 0, 0, 0, 0, {0, 0, 0, 0}};
  CHECK(pto_tasks_submit(runtime, &failing, &first) == 0);
  CHECK(pto_tasks_finish(runtime) == 1);
  CHECK(strstr(pto_tasks_last_error(), "the kernel returned 42") != 0);
  CHECK(pto_tasks_error_code(runtime) == 200);

  CHECK(pto_tasks_begin(runtime) == 0);
  failing.worker_kind = 77;
  CHECK(pto_tasks_submit(runtime, &failing, &first) == 1);
  CHECK(strstr(pto_tasks_last_error(), "there is no worker kind 77") != 0);
  CHECK(pto_tasks_finish(runtime) == 1);
  CHECK(pto_tasks_submit(runtime, 0, &first) == 1);
  CHECK(pto_tasks_begin(0) == 1);
  pto_tasks_destroy(runtime);

  options.window = 17;
  CHECK(pto_tasks_create(&options, &runtime) == 1);
  CHECK(strstr(pto_tasks_last_error(), "power of two") != 0);
  return 0;
}
