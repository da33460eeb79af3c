//===- Scalar.h - Semantics of scalar instructions ----------------*- C++ -*-===//
//
// The single definition of the register arithmetic of Scalar.td, shared by the simulator, constant folding in code
// generation, and the walk over streams in lib/PModel.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_ISA_SCALAR_H
#define PTO_MLIR_ISA_SCALAR_H

#include "pto_mlir/ISA/Operands.h"

#include <cstdint>
#include <optional>

namespace pto_mlir::isa {

/// `lhs opcode rhs` in 64 bits, wrapping; quotients round toward minus infinity. nullopt for a division by 0, which is
/// a fault, and for an opcode that is not a ScalarBinary.
constexpr std::optional<int64_t> evaluateScalar(Opcode opcode, int64_t lhs, int64_t rhs) {
  uint64_t a = uint64_t(lhs), b = uint64_t(rhs);
  switch (opcode) {
  case Opcode::Add:
    return int64_t(a + b);
  case Opcode::Sub:
    return int64_t(a - b);
  case Opcode::Mul:
    return int64_t(a * b);
  case Opcode::Div:
    if (rhs == 0)
      return std::nullopt;
    if (rhs == -1) // INT64_MIN / -1 wraps to INT64_MIN
      return int64_t(-a);
    return lhs / rhs - (lhs % rhs != 0 && (lhs < 0) != (rhs < 0));
  case Opcode::Rem:
    if (rhs == 0)
      return std::nullopt;
    return int64_t(a - uint64_t(*evaluateScalar(Opcode::Div, lhs, rhs)) * b);
  case Opcode::Min:
    return lhs < rhs ? lhs : rhs;
  case Opcode::Max:
    return lhs < rhs ? rhs : lhs;
  case Opcode::And:
    return lhs & rhs;
  case Opcode::Or:
    return lhs | rhs;
  case Opcode::Xor:
    return lhs ^ rhs;
  case Opcode::Shl:
    return int64_t(a << (rhs & 63));
  case Opcode::Shr:
    return lhs >> (rhs & 63);
  default:
    return std::nullopt;
  }
}

/// The result of `cmp`.
constexpr bool compareScalars(CompareMode mode, int64_t lhs, int64_t rhs) {
  switch (mode) {
  case CompareMode::eq:
    return lhs == rhs;
  case CompareMode::ne:
    return lhs != rhs;
  case CompareMode::lt:
    return lhs < rhs;
  case CompareMode::le:
    return lhs <= rhs;
  case CompareMode::gt:
    return lhs > rhs;
  case CompareMode::ge:
    return lhs >= rhs;
  }
  return false;
}

} // namespace pto_mlir::isa

#endif
