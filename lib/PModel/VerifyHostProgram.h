#ifndef PTO_MLIR_LIB_PMODEL_VERIFYHOSTPROGRAM_H
#define PTO_MLIR_LIB_PMODEL_VERIFYHOSTPROGRAM_H

#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Result.h"

namespace pto_mlir::pmodel {

/// Verifies a host program: VM verification, a name for every parameter and result, and that every called
/// `@device.<net>` is a net of the model with operands and results of those types.
Status verifyHostProgram(const ModelDesc &model, const HostProgramDesc &desc);

} // namespace pto_mlir::pmodel

#endif
