//===- PitchedViews.h - rows of an argument that lie apart -----------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_KERNELS_INPLACE_PITCHEDVIEWS_H
#define PTO_MLIR_LIB_KERNELS_INPLACE_PITCHEDVIEWS_H

#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <compare>
#include <memory>
#include <optional>

namespace pto_mlir::kernels {

/// An argument of a kernel as rows of `row` elements, whose beginnings are `pitch` elements apart.
struct Pitch {
  int64_t row = 0, pitch = 0;
  auto operator<=>(const Pitch &) const = default;
};

/// The views that a function of pto ops has of its arguments, which it takes to be dense.
class PitchedViews {
public:
  explicit PitchedViews(mlir::func::FuncOp func) : func(func) {}

  /// Whether each view of the argument stays inside of rows of `row` elements, steps by whole ones, or is moved in runs
  /// of whole rows, so that the rows may lie apart. False where that is not known.
  bool allow(unsigned argument, int64_t row);

  /// Has the views of an argument for which `allow` is true step by the pitch.
  void set(unsigned argument, Pitch pitch);

private:
  struct Range {
    int64_t least, most;
  };
  /// The places in a row that `offset`, a number of elements, stands for.
  std::optional<Range> inRow(mlir::Value offset, int64_t row);
  std::optional<Range> rangeOf(mlir::Value value);
  bool allowPointer(mlir::Value pointer, Range begin, int64_t row);
  bool allowView(mlir::Operation *view, Range begin, int64_t row);
  mlir::Value spread(mlir::OpBuilder &b, mlir::Value offset, Pitch pitch);

  mlir::func::FuncOp func;
  std::unique_ptr<mlir::DataFlowSolver> solver; ///< made by the first question
};

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_INPLACE_PITCHEDVIEWS_H
