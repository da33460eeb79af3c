// What must hold in every model, whoever made it.
#ifndef PTO_MLIR_PMODEL_VERIFIER_H
#define PTO_MLIR_PMODEL_VERIFIER_H

#include "pto_mlir/PModel/Builder.h"
#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Result.h"

namespace pto_mlir::pmodel {

/// Checks names, texts, types, shapes, sizes, every index, every VM program and every command stream. `layout` is where
/// the programs expect the weights. The failure names net, program or kernel and what is wrong. Weight bytes are not
/// read.
Status verifyModel(const ModelDesc &model, const WeightLayout &layout);

/// The part of verifyModel for one kernel: its streams decode and are legal on `processor`.
Status verifyKernel(const KernelDesc &kernel, const std::string &processor);

/// The part of verifyModel for one variant: its tensors, its program, its debug tensors.
Status verifyVariant(const ModelDesc &model, const VariantDesc &variant, const WeightLayout &layout);

} // namespace pto_mlir::pmodel

#endif
