//===- Roles.h - roles of the operands of a linalg op ----------------*- C++ -*-===//
//
// Maps the loops of a linalg op to the rows and columns of a tile. The last loop is
// the column. The other loops with more than one iteration form the row: one loop, or
// several that every operand indexes in adjacent dimensions or not at all. An operand
// not indexed by the row or the column is a row or column vector.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_ROLES_H
#define PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_ROLES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace pto_mlir {

enum class Role {
  Full,   ///< rows x columns
  Row,    ///< one value per column
  Column, ///< one value per row
  Scalar  ///< a single value in memory
};

/// Whether the memref is a single row: all dimensions but the last are 1.
bool isVector(mlir::MemRefType type);

class Roles {
public:
  /// Emits an error on `op` when its loops cannot be mapped to rows and columns.
  static mlir::FailureOr<Roles> compute(mlir::linalg::LinalgOp op);

  Role of(mlir::OpOperand &operand) const;
  /// Whether the operand is indexed by rows and columns in transposed order.
  bool isTransposed(mlir::OpOperand &operand) const;
  bool hasRows() const { return needRow; }
  bool hasColumns() const { return needCol; }
  /// The role of the reduction: Full when the op reduces nothing.
  Role reduced() const { return reduction; }

private:
  mlir::linalg::LinalgOp op;
  int rowLoop = -1, colLoop = -1; ///< rowLoop: the outermost loop of the row
  bool needRow = false, needCol = false;
  Role reduction = Role::Full;
};

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_ROLES_H
