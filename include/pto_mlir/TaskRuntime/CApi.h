/* The C API of the task runtime. Functions that return int return 0 on success and 1 on failure;
 * pto_tasks_last_error() then describes the failure.
 *
 * A runtime may be used by one thread at a time. A run is pto_tasks_begin, submissions, pto_tasks_finish. */
#ifndef PTO_MLIR_TASKRUNTIME_CAPI_H
#define PTO_MLIR_TASKRUNTIME_CAPI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pto_tasks pto_tasks;
typedef uint64_t pto_task_id; /* 0 is no task */

enum { PTO_WORKER_CUBE = 0, PTO_WORKER_VECTOR = 1, PTO_WORKER_AI_CPU = 2, PTO_WORKER_ACCELERATOR = 3 };
enum { PTO_TASK_FREE = 0, PTO_TASK_PENDING, PTO_TASK_READY, PTO_TASK_RUNNING, PTO_TASK_COMPLETED, PTO_TASK_CONSUMED };
enum { PTO_ARG_SCALAR = 0, PTO_ARG_INPUT = 1, PTO_ARG_OUTPUT = 2, PTO_ARG_INOUT = 3, PTO_ARG_ALLOCATE = 4 };

#define PTO_NO_KERNEL UINT32_MAX

typedef struct pto_tasks_options {
  uint32_t cores[4];           /* per worker kind */
  uint32_t window;             /* task slots per ring, a power of two; 0 = 16384 */
  uint64_t heap_bytes;         /* per ring; 0 = 64 MiB */
  uint32_t dependency_entries; /* per ring; 0 = 131072 */
  uint32_t schedulers;         /* 0 = chosen by the number of processors */
  uint32_t worker_threads;     /* 0 = chosen by the number of processors */
  uint32_t virtual_time;       /* 1 = one thread and simulated time */
  uint32_t trace;              /* 1 = record runs for pto_tasks_write_trace */
  uint32_t hang_ms;            /* a kernel that runs longer is reported as hung; 0 = 60000 */
} pto_tasks_options;

/* The arguments of a kernel body: one word per argument of the task. */
typedef struct pto_kernel_call {
  const uint64_t *args;
  uint32_t num_args;
  uint32_t block, num_blocks;
  uint32_t core;
  pto_task_id task;
} pto_kernel_call;

/* Returns 0 on success; any other value fails the task. */
typedef int (*pto_kernel_body)(void *user, const pto_kernel_call *call);

typedef struct pto_task_arg {
  uint32_t kind;          /* PTO_ARG_.. */
  uint32_t element_bytes; /* of tensors; 0 = 1 */
  uint64_t word;          /* scalar, or the tensor's address; after a submission the address of PTO_ARG_ALLOCATE */
  uint64_t bytes;         /* size of a dense tensor */
  pto_task_id owner;      /* the task that owns the memory; set for PTO_ARG_ALLOCATE */
} pto_task_arg;

/* Conditional execution: the signed integer at `address` is read when the task is due to start. It runs if that
 * compares with `target` as said, else it completes without running. It waits for the writer of the integer. */
enum { PTO_IS_NOT, PTO_IS, PTO_IS_ABOVE, PTO_IS_BELOW, PTO_IS_AT_LEAST, PTO_IS_AT_MOST };
typedef struct pto_task_predicate {
  uint64_t address;
  uint32_t bytes;      /* 1, 2, 4 or 8; 0 = the task always runs */
  uint32_t comparison; /* PTO_IS_.. */
  int64_t target;
} pto_task_predicate;

typedef struct pto_task_spec {
  uint32_t kernel; /* PTO_NO_KERNEL = a barrier */
  uint32_t worker_kind;
  uint32_t blocks; /* 0 = 1 */
  uint32_t gang;   /* 1 = all blocks start together */
  pto_task_arg *args;
  size_t num_args;
  const pto_task_id *after;
  size_t num_after;
  const char *name; /* may be null; must stay valid until the run has finished */
  pto_task_predicate predicate;
} pto_task_spec;

typedef struct pto_tasks_stats {
  uint64_t submitted, completed, failed, skipped, edges, slot_reuses, blocked_ns;
} pto_tasks_stats;

/* Creates a runtime and starts its threads. */
int pto_tasks_create(const pto_tasks_options *options, pto_tasks **runtime);
void pto_tasks_destroy(pto_tasks *runtime);
/* Registers a kernel; only between runs. `user` is passed to every call, `cost_ns` is the duration in virtual time. */
int pto_tasks_register_kernel(pto_tasks *runtime, const char *name, pto_kernel_body body, void *user, uint64_t cost_ns,
                              uint32_t *kernel);
/* Begins a run. */
int pto_tasks_begin(pto_tasks *runtime);
/* Submits a task: copies the arguments, and fills `word` and `owner` of PTO_ARG_ALLOCATE. Blocks while the ring is
 * full. */
int pto_tasks_submit(pto_tasks *runtime, pto_task_spec *spec, pto_task_id *task);
/* Outputs of tasks remain valid while the scope of their submission is open. */
int pto_tasks_scope_begin(pto_tasks *runtime);
int pto_tasks_scope_end(pto_tasks *runtime);
/* Waits for one task. */
int pto_tasks_wait(pto_tasks *runtime, pto_task_id task);
/* Waits for the tasks that write the bytes. */
int pto_tasks_wait_to_read(pto_tasks *runtime, uint64_t address, uint64_t bytes);
/* Waits for all tasks and ends the run; fails with the first error of the run. */
int pto_tasks_finish(pto_tasks *runtime);
int pto_tasks_state(const pto_tasks *runtime, pto_task_id task); /* PTO_TASK_.. */
/* The ErrorCode of the last run (numbers as in Types.h), 0 on success. */
int pto_tasks_error_code(const pto_tasks *runtime);
/* Counters of the last run. */
int pto_tasks_statistics(const pto_tasks *runtime, pto_tasks_stats *stats);
/* Writes the last run as Chrome trace-event JSON; requires `trace` in the options. */
int pto_tasks_write_trace(const pto_tasks *runtime, const char *path);
/* The last error of the calling thread. */
const char *pto_tasks_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
