/* Running a .pmodel from C, or from any language that can call C. Link libpto_runtime.so.
 *
 * Functions return 0 on success; otherwise `pto_last_error` describes what failed in this thread, in one line. */
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

/* A dense row-major tensor that the caller owns. */
typedef struct pto_input {
  const char *name;
  const char *type;
  const uint64_t *shape;
  size_t rank;
  const void *data;
} pto_input;

/* Where to put an output: exactly the tensor's bytes. */
typedef struct pto_output {
  const char *name;
  void *data;
  uint64_t bytes;
} pto_output;

/* `device`: "cmodel" or the path of a plug-in, NULL for cmodel. `threads`: host threads of a simulator, 0 = all.
 * `net`: which net when the file has several, NULL for the only one. */
int pto_session_open(const char *path, const char *device, uint32_t threads, const char *net, pto_session **session);
void pto_session_close(pto_session *session);

size_t pto_session_num_inputs(const pto_session *session);
size_t pto_session_num_outputs(const pto_session *session);
int pto_session_input_info(const pto_session *session, size_t index, pto_tensor_info *info);
int pto_session_output_info(const pto_session *session, size_t index, pto_tensor_info *info);

int pto_session_run(pto_session *session, const pto_input *inputs, size_t num_inputs, const pto_output *outputs,
                    size_t num_outputs);

const char *pto_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
