//===- Templates.h - kernels of what linalg does not express ----*- C++ -*-===//
//
// The fourth road: an op of `top` whose kernel a parametrised builder of pto ops
// makes. convert-top-to-linalg leaves it, form-kernels gives it a kernel of its
// own, build-template-kernels fills that kernel.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_KERNELS_TEMPLATES_H
#define PTO_MLIR_KERNELS_TEMPLATES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "pto_mlir/Dialect/PTO/IR/Target.h"

#include <string>

namespace pto_mlir::templates {

/// Whether ops of this kind have a template, whatever their shapes.
bool hasTemplate(mlir::Operation *op);

/// Whether `op` has a template whose kernel takes each size that is known at run time as a scalar of its own, wherever
/// it stands.
bool takesEachSize(mlir::Operation *op);

/// Why `op`, which has a template, has no kernel on `target` with its shapes and types, and which limit it hits; "" if
/// it has one.
std::string refusal(mlir::Operation *op, const pto::Target &target);

/// refusal() of the targets that have a chip: "" if one of them has a kernel, or if `op` has no template.
std::string refusalByAll(mlir::Operation *op);

/// Whether `top.gather_elements` from `data` has a kernel on each of those targets.
bool gathersRows(mlir::RankedTensorType data);

/// Whether `a` and `b` share a kernel: they compute the same way from the same operands.
bool shareKernel(mlir::Operation *a, mlir::Operation *b);

} // namespace pto_mlir::templates

#endif // PTO_MLIR_KERNELS_TEMPLATES_H
