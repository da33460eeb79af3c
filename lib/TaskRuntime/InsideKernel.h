// Whether this thread is running a kernel. A kernel that waits on the runtime would deadlock.
#ifndef PTO_MLIR_LIB_TASKRUNTIME_INSIDEKERNEL_H
#define PTO_MLIR_LIB_TASKRUNTIME_INSIDEKERNEL_H

namespace pto_mlir::tasks {

bool &insideKernel();

} // namespace pto_mlir::tasks

#endif
