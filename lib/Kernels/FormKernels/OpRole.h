//===- OpRole.h - what an op of @main may become in a kernel ----*- C++ -*-===//
//
// form-kernels decides by role, not by op: this is the one place that knows
// which linalg ops go which road.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_FORMKERNELS_OPROLE_H
#define PTO_MLIR_LIB_KERNELS_FORMKERNELS_OPROLE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace pto_mlir::kernels {

enum class OpRole {
  Host,            ///< stays in @main: constants, empties, reshapes, slices that are views, return
  Init,            ///< fill or bias broadcast used only as a destination; cloned into each user's kernel
  Pad,             ///< border of convolutions and pools only; cloned into each user's kernel
  Cube,            ///< contraction: root of a cube kernel
  Attention,       ///< root and only op of an attention kernel
  Recurrence,      ///< the only op of a recurrent kernel
  Template,        ///< root of a kernel that a tile template fills
  Window,          ///< depthwise convolution or pool: root of a vector kernel
  Elementwise,     ///< parallel generic, operands identical or broadcast
  RowReduction,    ///< generic that reduces its innermost dimensions
  ColumnReduction, ///< generic that keeps its innermost dimension
  Movement,        ///< a kernel of its own
  Unknown          ///< not what convert-top-to-linalg leaves
};

/// Whether a slice needs no kernel: who reads it reads a part of another kernel's result in the workspace.
bool isView(mlir::tensor::ExtractSliceOp slice);

/// The role of `op`, a direct child of @main.
OpRole classify(mlir::Operation *op);

/// What `op` reads: its operands, and what its body takes from around it (the data of a gather).
llvm::SmallVector<mlir::Value> valuesRead(mlir::Operation *op);

/// True when `map` reads every loop in order: (d0, .., dn) -> (d0, .., dn).
bool readsAllLoops(mlir::AffineMap map);

/// True when `generic` has one input, read by the identity, and its body is
/// `maximumf(in, 0)`, computed in the input's type or wider.
bool isRelu(mlir::linalg::GenericOp generic);

/// True when `generic` has one input, read by the identity, and its body is
/// one `arith.truncf`.
bool isTruncation(mlir::linalg::GenericOp generic);

/// True when `generic` has one input, read by the identity, and its body is
/// one `arith.extf`.
bool isExtension(mlir::linalg::GenericOp generic);

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_FORMKERNELS_OPROLE_H
