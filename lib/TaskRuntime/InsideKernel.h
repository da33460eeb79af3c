// Whether this thread is running a kernel: a kernel that waits for the runtime would wait for itself.
#ifndef PTO_MLIR_LIB_TASKRUNTIME_INSIDEKERNEL_H
#define PTO_MLIR_LIB_TASKRUNTIME_INSIDEKERNEL_H

namespace pto_mlir::tasks {

bool &insideKernel();

} // namespace pto_mlir::tasks

#endif
