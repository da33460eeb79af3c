// The lines about state in reports.
#ifndef PTO_MLIR_LIB_PMODEL_STATEREPORT_H
#define PTO_MLIR_LIB_PMODEL_STATEREPORT_H

#include "pto_mlir/PModel/Model.h"

namespace pto_mlir::pmodel {

/// The groups of state of a model with their tensors, one per line; empty without state.
std::string stateText(const ModelDesc &model);
/// The line about the group that a variant uses; empty without.
std::string stateUseText(const ModelDesc &model, const VariantDesc &variant);

} // namespace pto_mlir::pmodel

#endif
