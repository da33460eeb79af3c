//===- Contraction.h - what a cube kernel computes --------------*- C++ -*-===//
//
// The body of an outlined cube kernel, read into plain data: which argument is
// which operand, how each lies in memory, and the problem that the tiling
// chooser solves.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_CUBE_CONTRACTION_H
#define PTO_MLIR_LIB_KERNELS_CUBE_CONTRACTION_H

#include "../Epilogue.h"

#include "pto_mlir/Kernels/CubeTiling.h"
#include "pto_mlir/Kernels/CubeWeights.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir::cube {

/// A kernel argument as a row-major matrix [rows, cols]. Block `o` (of a batch
/// or a group), o = i * inner + j, begins at row firstRow + i * outerRows + j *
/// innerRows, and so for columns: heads lie beside each other, batches below.
struct Matrix {
  unsigned arg = 0;
  mlir::Type element;
  int64_t rows = 1, cols = 1;
  int64_t outerRows = 0, outerCols = 0;
  int64_t inner = 1, innerRows = 0, innerCols = 0;
  int64_t firstRow = 0, firstCol = 0;
  /// Steps that are known at run time, as products of the launch's scalars; null: the numbers above.
  mlir::AffineExpr outerRowsSize, innerRowsSize, outerColsSize;
  /// The matrix in memory is the transpose of the operand.
  bool transposed = false;
};

/// One contraction with its epilogue.
struct Contraction {
  CubeProblem problem;
  Matrix left, right, out;
  Epilogue epilogue;
  std::optional<Matrix> bias, scales; ///< where the epilogue's bias and scales lie; scales as descriptors
  mlir::Type accumulator;             ///< f32 or i32
  /// Rows of the left operand, or products, that are known at run time: so many times the launch's scalar; 0: they are
  /// problem.m, problem.outer.
  int64_t rowsPerSize = 0, outerPerSize = 0;
  /// Of a convolution by img2col or patches likewise: its images (problem is that of one then), or the rows of its
  /// image and of its result.
  int64_t imagesPerSize = 0, imageRowsPerSize = 0, outputRowsPerSize = 0;
  int64_t leastImageRows = 0; ///< of the smallest image then
  /// Set when `right` is a filter that must be packed at compile time.
  std::optional<FilterShape> packFilter;
  FilterLayout filterLayout = FilterLayout::HWCF;
};

/// How many tilings are looked at closer.
inline size_t finalists(const Contraction &contraction) {
  return contraction.rowsPerSize ? kSizedFinalists : kFinalists;
}

/// The bytes that decide between tilings of equal time: none where rows are known at run time, for `loads` is that of
/// their greatest number.
inline double comparedLoads(const Contraction &contraction, const CubeTiling &tiling) {
  return contraction.rowsPerSize ? 0 : tiling.loads;
}

/// Reads the body of `func`. A body that is no single contraction with an
/// epilogue is an error on the op that does not fit.
mlir::FailureOr<Contraction> matchContraction(mlir::func::FuncOp func);

/// What an argument of a built kernel points to: the elements of the tensor, descriptors for scales.
mlir::Type argumentElement(mlir::func::FuncOp func, const Contraction &contraction, unsigned number);

/// Reads the sizes that are known at run time off the kernel's arguments (pto.sizes): the rows of the left operand may
/// be, or the number of products. An error where another extent is.
mlir::LogicalResult matchSizes(mlir::func::FuncOp func, Contraction &contraction);

} // namespace pto_mlir::cube

#endif // PTO_MLIR_LIB_KERNELS_CUBE_CONTRACTION_H
