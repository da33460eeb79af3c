// Index expressions as sums of multiples, and how large they can become.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_LINEARFORM_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_LINEARFORM_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace pto_mlir::pypto_frontend {

/// constant + the sum of value times coefficient, in the order in which the values are met.
struct LinearForm {
  int64_t constant = 0;
  llvm::MapVector<mlir::Value, int64_t> terms;

  LinearForm() = default;
  LinearForm(int64_t constant) : constant(constant) {}
  /// Looks through additions, subtractions, multiplications by constants and casts of integers.
  explicit LinearForm(mlir::Value value) { add(value, 1); }

  void add(mlir::Value value, int64_t times);
  void add(const LinearForm &other, int64_t times);
};

/// What is known of an index; nullopt where there is no bound. MLIR's analysis of integer ranges knows neither that a
/// loop's index takes whole steps nor that `i + min(16, n - i)` is at most n, on which windows depend.
struct Bounds {
  std::optional<int64_t> least, most;
};
Bounds boundsOf(mlir::Value value);
Bounds boundsOf(const LinearForm &form);
/// A number that divides the index, whatever it is in a run; 0 for an index that is 0.
int64_t divisorOf(const LinearForm &form);

} // namespace pto_mlir::pypto_frontend

#endif
