#ifndef PTO_MLIR_LIB_PMODEL_VERIFYPROGRAM_H
#define PTO_MLIR_LIB_PMODEL_VERIFYPROGRAM_H

#include "pto_mlir/PModel/Builder.h"
#include "pto_mlir/PModel/Model.h"

namespace pto_mlir::pmodel {

/// Checks a variant's bytecode so that the loop that executes it checks nothing: slots exist and hold a buffer when
/// used, ranges lie inside their buffer (an argument in the weights inside one weight), kernels exist and get as many
/// arguments as they take, host ops fit their buffers, and the first allocation is the workspace.
Status verifyProgram(const ModelDesc &model, const VariantDesc &variant, const WeightLayout &layout);

} // namespace pto_mlir::pmodel

#endif
