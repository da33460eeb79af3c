//===- Epilogue.h - what a contraction does to its sums ---------*- C++ -*-===//
//
// The one value that says what happens between the accumulator of a contraction
// and its result. form-kernels reads it off the ops behind the contraction and
// puts it into the kernel; matchContraction reads it there, and the tiling
// chooser, the costs and the builders of kernels take it from the Contraction.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_EPILOGUE_H
#define PTO_MLIR_LIB_KERNELS_EPILOGUE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace pto_mlir {

/// result = to target (activation ((sum + bias) * scale + offset)), one step after the other. The last step rounds to
/// nearest even, and saturates where the target is an integer.
struct Epilogue {
  enum class Activation { None, Relu };

  mlir::Value bias;           ///< one number per column, of the sums' type; null for none
  mlir::Value scales;         ///< f32, one per column; null for none
  std::optional<float> scale; ///< of all columns
  int64_t offset = 0;         ///< with a scale only: the target's zero point
  Activation activation = Activation::None;
  mlir::Type target; ///< elements of the result; null: the sums' type

  bool relu() const { return activation == Activation::Relu; }
  bool requantises() const { return scales || scale; }

  /// Takes what `op` does to the value before it, as the last step; leaves the epilogue alone and returns false when
  /// `op` is no such step, the fixpipe has it no second time, or does not have it exactly. Steps are a requantisation
  /// of i32 to i8 (Requantise.h), or relu and a cast to a narrower float in any order: they commute. `reject` is the op
  /// in the way.
  bool take(mlir::linalg::GenericOp op, mlir::Operation **reject = nullptr);

  /// Reads the bias off the init of a contraction: a fill with 0, or a vector broadcast along leading dimensions.
  /// Errors on `root` or the op that makes the init.
  mlir::LogicalResult takeInit(mlir::Operation *root, mlir::Value init);

  /// The steps behind `sums`, as ops on tensors; the last one writes to `destination`. `sums` itself without any step.
  mlir::Value build(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value sums, mlir::Value destination) const;

private:
  bool takeRequantisation(mlir::linalg::GenericOp op);
  mlir::Value buildRequantisation(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value sums,
                                  mlir::Value destination) const;
};

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_KERNELS_EPILOGUE_H
