#ifndef PTO_MLIR_LIB_PMODEL_VERIFYPROGRAM_H
#define PTO_MLIR_LIB_PMODEL_VERIFYPROGRAM_H

#include "pto_mlir/PModel/Builder.h"
#include "pto_mlir/PModel/Model.h"

namespace pto_mlir::pmodel {

/// Verifies a variant's bytecode, so that execution needs no checks: slots exist and hold a buffer when used, ranges
/// are inside their buffer (an argument in the weights section inside one weight), kernels exist and are called with
/// the right number of arguments, host ops match their buffers, and the first allocation is the workspace.
Status verifyProgram(const ModelDesc &model, const VariantDesc &variant, const WeightLayout &layout);

} // namespace pto_mlir::pmodel

#endif
