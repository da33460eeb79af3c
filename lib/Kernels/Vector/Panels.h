//===- Panels.h - a part of what a vector kernel computes -------*- C++ -*-===//
//
// A vector kernel reads one of its arguments as a matrix, row by row. What it
// does with a panel of some rows and columns of that matrix is a kernel of its
// own, on tensors of the panel's size; this finds out whether there is one, and
// makes it.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_VECTOR_PANELS_H
#define PTO_MLIR_LIB_KERNELS_VECTOR_PANELS_H

#include "Domain.h"
#include "Phases.h"

namespace pto_mlir::vector_kernels {

class Panels {
public:
  /// Reads `kernel`, which stays as it is. Empty when its argument number
  /// `argument` is no matrix of `rows` x `columns` from whose panels results
  /// follow panel by panel: it is reduced over rows, moved, or a window. An output's
  /// number: the kernel makes that matrix, and panels of it can be made alone.
  static std::optional<Panels> of(mlir::func::FuncOp kernel, unsigned argument, int64_t rows, int64_t columns,
                                  const PhaseContext &context);

  /// Whether a panel needs all columns, because they are reduced.
  bool needsWholeRows() const { return reduced != 0; }
  /// A panel must not go over a multiple of so many rows; 0: wherever it lies.
  int64_t unbrokenRows() const { return classes.size() > 2 ? extents[extents.size() - 2] : 0; }
  unsigned numArguments() const { return arguments.size(); }
  unsigned numInputs() const { return arguments.size() - results.size(); }
  /// Operations of a vector core on each element of the matrix, and bytes that it moves for it.
  double operations() const { return work; }
  double bytes() const { return moved; }
  /// Times that each row is reduced.
  unsigned reductions() const { return reduced; }

  /// The kernel of a panel of `rows` x `columns` elements: the matrix first, `pitch` elements from row to row, then the
  /// other arguments of the whole kernel in their order, which begin at the places that `steps` says. A matrix that the
  /// kernel makes stays in its place, with whole rows. With `anyRows` it takes their number as its size (pto.sizes), at
  /// most `rows`; there must be no `unbrokenRows`.
  mlir::func::FuncOp make(llvm::StringRef name, int64_t rows, int64_t columns, int64_t pitch, bool anyRows);

  /// Where the part of argument `i` (of the panel's kernel) begins for a panel at (row, column): column * [0] +
  /// the sum over triples (div, mod, stride) of row / div % mod * stride, in elements; mod 0 stands for none.
  llvm::SmallVector<int64_t> steps(unsigned i) const;

private:
  struct Argument {
    mlir::Value end;                  ///< behind its reshapes
    llvm::SmallVector<unsigned> dims; ///< numbers of classes, ascending
    bool used = true;
  };

  unsigned rowPlace() const { return classes.size() - 2; }
  unsigned columnPlace() const { return classes.size() - 1; }
  bool read(unsigned argument, int64_t rows, int64_t columns);
  /// Reads one part of the kernel each; false where no panels of it can be made.
  bool readMatrix(mlir::Value matrix, int64_t rows, int64_t columns);
  bool readOps(llvm::ArrayRef<mlir::linalg::LinalgOp> ops);
  bool readArguments(llvm::ArrayRef<mlir::Value> ends);
  bool readResults(llvm::ArrayRef<mlir::Value> returned);
  bool readClasses(llvm::ArrayRef<mlir::linalg::LinalgOp> ops);
  /// Positions of the matrix's dimensions that `value` has; nothing when it has others or in another order.
  std::optional<llvm::SmallVector<unsigned>> dimsOf(mlir::Value value) const;
  mlir::RankedTensorType typeOf(llvm::ArrayRef<unsigned> dims, mlir::Type element, int64_t rows, int64_t columns) const;

  mlir::OwningOpRef<mlir::func::FuncOp> body; ///< normalized
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned>> classesOf;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned>> loopsOf;
  llvm::SmallVector<unsigned> classes; ///< of the matrix's dimensions, the columns' last
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<Argument> arguments; ///< an input matrix first
  llvm::SmallVector<mlir::Value> results;
  unsigned reduced = 0;
  double elements = 0; ///< of the matrix
  double work = 0, moved = 0;
};

} // namespace pto_mlir::vector_kernels

#endif // PTO_MLIR_LIB_KERNELS_VECTOR_PANELS_H
