// Verification of groups of state.
#ifndef PTO_MLIR_LIB_PMODEL_VERIFYSTATE_H
#define PTO_MLIR_LIB_PMODEL_VERIFYSTATE_H

#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Result.h"

namespace pto_mlir::pmodel {

/// Checks names, types, shapes, initial values, and that all places lie in their group, aligned and apart.
Status verifyStates(const ModelDesc &model);

/// Checks that the variant's group exists, and its numbers of positions.
Status verifyStateUse(const ModelDesc &model, const VariantDesc &variant);

} // namespace pto_mlir::pmodel

#endif
