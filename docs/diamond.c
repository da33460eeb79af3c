/* (a + b + 1) * (a + b + 2) as four tasks on the task runtime, from C:
 *
 *     cc -std=c99 -I include docs/diamond.c -L build/lib -lpto_tasks -Wl,-rpath,build/lib -o diamond && ./diamond
 *
 * Dependencies follow from the arguments: two tasks read what the first one writes, the last one reads both of theirs.
 */
#include "pto_mlir/TaskRuntime/CApi.h"

#include <stdio.h>

static float *tensor(uint64_t word) { return (float *)(uintptr_t)word; }

static int add(void *user, const pto_kernel_call *call) {
  (void)user;
  *tensor(call->args[2]) = *tensor(call->args[0]) + *tensor(call->args[1]);
  return 0;
}

static int multiply(void *user, const pto_kernel_call *call) {
  (void)user;
  *tensor(call->args[2]) = *tensor(call->args[0]) * *tensor(call->args[1]);
  return 0;
}

static int fail(void) {
  fprintf(stderr, "diamond: error: %s\n", pto_tasks_last_error());
  return 1;
}

static int submit(pto_tasks *runtime, uint32_t kernel, const char *name, const float *x, const float *y, float *out) {
  pto_task_arg args[3] = {{PTO_ARG_INPUT, 4, (uint64_t)(uintptr_t)x, 4, 0},
                          {PTO_ARG_INPUT, 4, (uint64_t)(uintptr_t)y, 4, 0},
                          {PTO_ARG_OUTPUT, 4, (uint64_t)(uintptr_t)out, 4, 0}};
  pto_task_spec spec = {0};
  pto_task_id task;
  spec.kernel = kernel;
  spec.worker_kind = PTO_WORKER_VECTOR;
  spec.args = args;
  spec.num_args = 3;
  spec.name = name;
  return pto_tasks_submit(runtime, &spec, &task);
}

int main(void) {
  float a = 3.0f, b = 4.0f, one = 1.0f, two = 2.0f, sum, p, q, product;
  pto_tasks_options options = {
      {0, 2, 0, 0}, 0, 0, 0, 0, 0, 0, 0, 0}; /* two VECTOR cores, the rest as it suits the machine */
  pto_tasks_stats stats;
  pto_tasks *runtime;
  uint32_t adds, multiplies;
  if (pto_tasks_create(&options, &runtime))
    return fail();
  if (pto_tasks_register_kernel(runtime, "add", add, NULL, 0, &adds) ||
      pto_tasks_register_kernel(runtime, "multiply", multiply, NULL, 0, &multiplies) || pto_tasks_begin(runtime) ||
      submit(runtime, adds, "a + b", &a, &b, &sum) || submit(runtime, adds, "+ 1", &sum, &one, &p) ||
      submit(runtime, adds, "+ 2", &sum, &two, &q) || submit(runtime, multiplies, "product", &p, &q, &product) ||
      pto_tasks_finish(runtime) || pto_tasks_statistics(runtime, &stats))
    return fail();
  pto_tasks_destroy(runtime);
  printf("%g after %d tasks with %d edges\n", product, (int)stats.completed, (int)stats.edges);
  return 0;
}
