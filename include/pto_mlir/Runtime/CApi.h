/* The C API that runs a .pmodel. Link libpto_runtime.so.
 *
 * Functions that return int return 0 on success and 1 on failure; `pto_last_error` then describes the failure in one
 * line. */
#ifndef PTO_MLIR_RUNTIME_CAPI_H
#define PTO_MLIR_RUNTIME_CAPI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pto_session pto_session;

/* An input or output as the net declares it; valid until the session is closed. */
typedef struct pto_tensor_info {
  const char *name;
  const char *type; /* "f32", "i64", ... */
  const uint64_t *shape;
  size_t rank;
  uint64_t bytes;
} pto_tensor_info;

/* A string of any bytes, which need not end with a zero. The data of a tensor of type "string" is an array of these;
 * those of an output live until the session gives that output again, or ends. */
typedef struct pto_string {
  const char *data;
  size_t size;
} pto_string;

/* A dense row-major tensor, owned by the caller. */
typedef struct pto_input {
  const char *name;
  const char *type;
  const uint64_t *shape;
  size_t rank;
  const void *data;
} pto_input;

/* The caller's buffer for one output; `bytes` must equal the size of the tensor. */
typedef struct pto_output {
  const char *name;
  void *data;
  uint64_t bytes;
} pto_output;

/* Opens a session on one net of the file. `device`: "cmodel" or the path of a plug-in, NULL for cmodel. `threads`:
 * host threads of a simulator, 0 = all. `net`: the name of the net, NULL for the only one of the file. */
int pto_session_open(const char *path, const char *device, uint32_t threads, const char *net, pto_session **session);
/* Releases the session and every pto_tensor_info obtained from it. NULL is allowed. */
void pto_session_close(pto_session *session);

size_t pto_session_num_inputs(const pto_session *session);
size_t pto_session_num_outputs(const pto_session *session);
/* Describe input or output `index`; fail when there is none. */
int pto_session_input_info(const pto_session *session, size_t index, pto_tensor_info *info);
int pto_session_output_info(const pto_session *session, size_t index, pto_tensor_info *info);

/* Runs the net once. All inputs must be given, in any order; `outputs` may name any non-empty subset of the outputs. */
int pto_session_run(pto_session *session, const pto_input *inputs, size_t num_inputs, const pto_output *outputs,
                    size_t num_outputs);

/* What a net remembers from run to run (docs/state.md). */
typedef struct pto_state pto_state;

/* Makes a state at position 0 for a net that has one. It may outlive the session. */
int pto_state_new(pto_session *session, pto_state **state);
/* Makes a second state with the same contents. */
int pto_state_fork(const pto_state *state, pto_state **copy);
/* Releases the state, which no run may be using. NULL is allowed. */
void pto_state_free(pto_state *state);
/* Positions that runs have added. */
uint64_t pto_state_position(const pto_state *state);
/* Goes back to `position`, at most the present one. */
int pto_state_truncate(pto_state *state, uint64_t position);
/* Position 0, and every tensor its initial value. */
int pto_state_reset(pto_state *state);
/* Write and read a safetensors file; a failed load changes nothing. */
int pto_state_save(const pto_state *state, const char *path);
int pto_state_load(pto_state *state, const char *path);
/* pto_session_run on `state`; NULL is the session's own, which pto_session_run uses. `num_outputs` may be 0. */
int pto_session_run_state(pto_session *session, pto_state *state, const pto_input *inputs, size_t num_inputs,
                          const pto_output *outputs, size_t num_outputs);

/* The last error of the calling thread; valid until the next failure in this thread. */
const char *pto_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
