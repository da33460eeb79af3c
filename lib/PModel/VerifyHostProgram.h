#ifndef PTO_MLIR_LIB_PMODEL_VERIFYHOSTPROGRAM_H
#define PTO_MLIR_LIB_PMODEL_VERIFYHOSTPROGRAM_H

#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Result.h"

namespace pto_mlir::pmodel {

/// Checks `model.program`, which is there: the VM's own verification, a name for every parameter and result, and that
/// every
/// `@device.<net>` it calls is a net of the model that takes and gives tensors of those types.
Status verifyHostProgram(const ModelDesc &model, const HostProgramDesc &desc);

} // namespace pto_mlir::pmodel

#endif
