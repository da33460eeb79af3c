#ifndef PTO_MLIR_LIB_PMODEL_VERIFYSIZES_H
#define PTO_MLIR_LIB_PMODEL_VERIFYSIZES_H

#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Result.h"

namespace pto_mlir::pmodel {

/// Verifies symbols and the sizes of inputs and outputs: ranges hold a value, every symbol follows from an extent of an
/// input, and shapes are the sizes of the greatest values.
Status verifySizes(const VariantDesc &variant);
/// Verifies that a number passed to a kernel names symbols of the variant and fits 64 bits for all their values.
Status verifyScalar(const bytecode::Size &scalar, const VariantDesc &variant);

} // namespace pto_mlir::pmodel

#endif
