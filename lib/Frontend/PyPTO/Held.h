// What the variables of an orchestrator hold.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_HELD_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_HELD_H

#include "mlir/IR/Value.h"
#include "pypto/core/dtype.h"

#include <memory>
#include <variant>
#include <vector>

namespace pto_mlir::pypto_frontend {

/// An integer that is known, or a value of the host program.
struct Number {
  int64_t known = 0;
  mlir::Value value; ///< null: `known`

  Number(int64_t known = 0) : known(known) {}
  explicit Number(mlir::Value value) : value(value) {}
  bool isKnown() const { return !value; }
  bool operator==(const Number &) const = default;
};

/// A tensor of an orchestrator: part of a buffer. Strides and offset in elements; the offset is the sum of its parts.
struct View {
  unsigned buffer = 0;
  int64_t offset = 0;
  mlir::Value moving; ///< null: none
  std::vector<Number> shape, strides;
  pypto::DataType dtype = pypto::DataType::FP32;
  bool mayEnd = false; ///< its first axis may end with the tensor, before its extent: known at run time
  bool isCut = false;  ///< not all of it is valid: kernels must say what they load

  bool isKnown() const;
  /// Of a known one.
  bool isRowMajor() const;
  bool operator==(const View &) const = default;
};

/// A task, or an array of so many. Launches are ordered by all memory that they share, so dependencies add no order
/// that a result would show; those of manual scopes are kept for the checked mode, which says where one is missing. A
/// host program does not keep them.
struct Task {
  using Numbers = std::vector<uint32_t>;         ///< several after a parallel loop; none: no task
  int64_t elements = 0;                          ///< 0: one task
  Numbers numbers = {};                          ///< of one task
  std::shared_ptr<std::vector<Numbers>> of = {}; ///< of an array, which programs change in place
  bool operator==(const Task &) const = default;
};

/// What a call gives.
struct Results {
  std::vector<View> views;
  bool hasTask = false; ///< as the last one
  Task task = {};
  bool operator==(const Results &) const = default;
};

/// What a variable of an orchestrator holds: a number, a number of the host program, a tensor, a task, or the results
/// of a call.
using Held = std::variant<std::monostate, int64_t, double, mlir::Value, View, Task, Results>;

inline Held heldOf(const Number &number) { return number.isKnown() ? Held(number.known) : Held(number.value); }

} // namespace pto_mlir::pypto_frontend

#endif
