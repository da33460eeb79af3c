// Whether kernels can be built, asked of the very passes and code generation that build them.
#ifndef PTO_MLIR_LIB_COMPILER_KERNELTRIALS_H
#define PTO_MLIR_LIB_COMPILER_KERNELTRIALS_H

#include "pto_mlir/Backend/Backend.h"
#include "pto_mlir/Kernels/KernelTrial.h"
#include "pto_mlir/Pipelines/Pipelines.h"

namespace pto_mlir {

/// A trial that builds a copy of the kernel for `processor` with the options of the deployment, and drops it.
KernelTrial kernelTrial(mlir::MLIRContext *context, const backend::Processor &processor,
                        const DeployPipelineOptions &options);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_COMPILER_KERNELTRIALS_H
