/* The device ABI: the functions that a plug-in (the cmodel, a card's driver) exports to the Runtime. Plain C, so
 * that a plug-in may be built by any tool chain.
 *
 * A plug-in is a shared library that exports `pto_device_get_api`. Every function returns PTO_OK or an error code;
 * after an error `last_error` describes it. A context is used by one thread at a time; different contexts are
 * independent. Device addresses are 64-bit, 0 is never a valid one, allocations are aligned to 512 bytes. */
#ifndef PTO_MLIR_RUNTIME_DEVICEABI_H
#define PTO_MLIR_RUNTIME_DEVICEABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PTO_DEVICE_ABI_VERSION 8

typedef struct pto_device_context pto_device_context;

typedef enum pto_status {
  PTO_OK = 0,
  PTO_ERROR_INVALID = 1,       /* the call violates this header */
  PTO_ERROR_OUT_OF_MEMORY = 2, /* device memory is exhausted */
  PTO_ERROR_BAD_KERNEL = 3,    /* a command stream did not verify */
  PTO_ERROR_FAULT = 4          /* a kernel faulted; see pto_fault */
} pto_status;

typedef enum pto_core_kind { PTO_CORE_AIC = 0, PTO_CORE_AIV = 1 } pto_core_kind;

/* One engine's commands; `pipe` uses the numbers of docs/commands.md. */
typedef struct pto_stream {
  uint32_t core_kind;
  uint32_t pipe;
  const uint32_t *words;
  size_t num_words;
} pto_stream;

typedef struct pto_kernel_desc {
  const char *name;
  const pto_stream *streams;
  size_t num_streams;
  uint32_t num_args; /* pointer arguments */
} pto_kernel_desc;

/* A kernel argument: an allocation, or part of one. Accesses outside [address, address + bytes) fault. */
typedef struct pto_arg {
  uint64_t address;
  uint64_t bytes;
} pto_arg;

typedef struct pto_fault {
  char kind[32]; /* "deadlock", "out-of-range", ... */
  char kernel[128];
  char engine[16]; /* "AIV0.1 MTE2" style: core, sub-block, pipe */
  uint32_t block;
  uint32_t word; /* index of the faulting instruction's first word in its stream */
  char message[512];
} pto_fault;

/* Engines by number: 0 to 5 are S, MTE1, MTE2, MTE3, M and FIX of AIC, 6 to 9 are S, V, MTE2 and MTE3 of AIV. */
#define PTO_NUM_ENGINES 10

/* A launch of a run on several devices. They share the memory of the context, where a window lies as [rank][bytes]: a
 * peer's copy is at a distance that is known when a kernel is compiled, or a scalar of the launch. */
typedef struct pto_rank_launch {
  uint32_t rank; /* the device */
  uint32_t kernel;
  uint32_t blocks;
  const pto_arg *args;
  size_t num_args;
  const int64_t *scalars;
  size_t num_scalars;
  const uint32_t *after; /* numbers of earlier launches, of other devices, that must have ended */
  size_t num_after;
} pto_rank_launch;

/* Execution counters since the last reset. host_seconds is the host's wall-clock time in launches, or the sum over the
 * calls of run_core. The fields after it are 0 for a device that does not measure its own time. */
typedef struct pto_profile {
  uint64_t launches;
  uint64_t instructions;
  uint64_t gm_bytes_read;
  uint64_t gm_bytes_written;
  double host_seconds;
  double cycles; /* device cycles, summed over launches */
  double seconds;
  /* Cycles in which the engine was busy, and in which it was stalled on a flag or a value: the mean over the cores that
   * run concurrently. */
  double engine_busy[PTO_NUM_ENGINES];
  double engine_stalled[PTO_NUM_ENGINES];
} pto_profile;

typedef struct pto_device_options {
  const char *processor; /* a row of the instruction table; NULL: the device's default */
  const char *mode;      /* "functional" (default), or another that the device knows; the cmodel: rationale-cmodel.md */
  uint32_t num_threads;  /* host threads that simulate cores; 0 = as many as the machine has */
} pto_device_options;

typedef struct pto_device_api {
  uint32_t abi_version;
  const char *name;
  pto_status (*open)(const pto_device_options *options, pto_device_context **context);
  void (*close)(pto_device_context *context);
  pto_status (*alloc)(pto_device_context *context, uint64_t bytes, uint64_t *address);
  pto_status (*free)(pto_device_context *context, uint64_t address);
  pto_status (*copy_to_device)(pto_device_context *context, uint64_t address, const void *data, uint64_t bytes);
  pto_status (*copy_from_device)(pto_device_context *context, void *data, uint64_t address, uint64_t bytes);
  /* Verifies and loads a kernel. The words are copied. */
  pto_status (*load_kernel)(pto_device_context *context, const pto_kernel_desc *desc, uint32_t *kernel);
  pto_status (*unload_kernel)(pto_device_context *context, uint32_t kernel);
  /* Queues a launch on `blocks` blocks; launches run in order. `scalars` are the values of `get 4..`. */
  pto_status (*launch)(pto_device_context *context, uint32_t kernel, uint32_t blocks, const pto_arg *args,
                       size_t num_args, const int64_t *scalars, size_t num_scalars);
  /* Waits for all launches. PTO_ERROR_FAULT if one faulted. */
  pto_status (*synchronize)(pto_device_context *context);
  /* The counters since the last reset, over all kernels; `reset` clears them. */
  pto_status (*profile)(pto_device_context *context, pto_profile *profile, int reset);
  /* The same for the launches of one kernel; `reset` clears that kernel's counts only. */
  pto_status (*kernel_profile)(pto_device_context *context, uint32_t kernel, pto_profile *profile, int reset);
  /* The last fault; kind is empty when there was none. */
  void (*fault)(pto_device_context *context, pto_fault *fault);
  /* Text of the last error of this context (of `open` when context is null). */
  const char *(*last_error)(pto_device_context *context);
  /* Runs the share of one core of a launch on the calling thread, before it returns. Cores are numbered block by block;
   * in each block the cube core comes first, then the two vector cores; a kind without commands in the kernel is left
   * out. Cores that set flags for each other run together: the call for the first of them (of a block, or of the
   * launch) runs them all, and the calls for the others do nothing. Threads may call run_core, the copies, alloc and
   * free of one context concurrently, but no other function; the calls are not ordered. After an error `fault`
   * describes it (kind "invalid" for a violation of this header); last_error and synchronize do not report it. Null, or
   * PTO_ERROR_INVALID, where only whole launches are supported. */
  pto_status (*run_core)(pto_device_context *context, uint32_t kernel, uint32_t blocks, uint32_t core,
                         const pto_arg *args, size_t num_args, const int64_t *scalars, size_t num_scalars,
                         pto_fault *fault);
  /* The busy time of each core of the last launch in device seconds, without the fixed overhead of a launch; numbered
   * as in run_core. `count` is the number of cores. Null, or PTO_ERROR_INVALID, where the device does not measure its
   * own time. */
  pto_status (*core_seconds)(pto_device_context *context, double *seconds, size_t count);
  /* Runs launches on several devices to their end: those of a device in order, the devices at the same time, so that
   * their kernels may wait for each other's signal cells. A wait that no device can satisfy is a fault of kind
   * "deadlock", whose message says what each device waits for. Errors as of run_core. Null, or PTO_ERROR_INVALID, where
   * there is but one device. */
  pto_status (*run_ranks)(pto_device_context *context, const pto_rank_launch *launches, size_t num_launches,
                          pto_fault *fault);
  /* What a device that looks for races between launches has to know: the next launch belongs to `task`, and the
   * launches of the tasks `others`, made before, might run at the same time. Where both access one byte, and one writes
   * it, the launch faults with kind "task-race"; it names the other task as "task #N". Task 0: the next launch, and
   * those after it, come behind all earlier ones. Holds for one launch, task 0 until the next call. Null, or without
   * effect, where the device does not look for them. */
  pto_status (*may_overlap)(pto_device_context *context, uint32_t task, const uint32_t *others, size_t num_others);
  /* When each launch of the last run_ranks began and ended, in device seconds since it began; `count` is the number of
   * launches. Null, or PTO_ERROR_INVALID, where the device does not measure its own time. */
  pto_status (*rank_seconds)(pto_device_context *context, double *begins, double *ends, size_t count);
  /* Later calls of run_ranks call `seen` on their thread with the number of each launch, before it begins (`ended` 0)
   * and when it has ended (1). `seen` throws nothing, and may copy from the device; that is no read of the program,
   * which the checked mode would look at. Null for `seen`: no more. Null, or PTO_ERROR_INVALID, where a run cannot be
   * watched. */
  pto_status (*watch_ranks)(pto_device_context *context, void (*seen)(void *user, size_t launch, int ended),
                            void *user);
} pto_device_api;

/* The only exported symbol. */
const pto_device_api *pto_device_get_api(void);

#ifdef __cplusplus
}
#endif
#endif
