// Checks run on every model before it is written or loaded; files are untrusted.
#ifndef PTO_MLIR_PMODEL_VERIFIER_H
#define PTO_MLIR_PMODEL_VERIFIER_H

#include "pto_mlir/PModel/Builder.h"
#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Result.h"

namespace pto_mlir::pmodel {

/// Checks names, texts, types, shapes, sizes, indices, VM programs and command streams. `layout`: the weight offsets
/// used by the programs. A failure names the net, program or kernel and the violation. Weight contents are not read.
Status verifyModel(const ModelDesc &model, const WeightLayout &layout);

/// The part of verifyModel for one kernel: its streams decode and are legal on `processor`.
Status verifyKernel(const KernelDesc &kernel, const std::string &processor);

/// The part of verifyModel for one variant: its tensors, its program, its debug tensors.
Status verifyVariant(const ModelDesc &model, const VariantDesc &variant, const WeightLayout &layout);

} // namespace pto_mlir::pmodel

#endif
