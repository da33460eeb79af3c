//===- Roles.h - rows and columns of a linalg op ----------------*- C++ -*-===//
//
// A tile has rows and columns; a linalg op has any number of loops. The last one
// is the column. Of the others those that run more than once are the row: one loop,
// or neighbours that every operand reads side by side or not at all. An operand that
// misses one of both is a row or a column vector.
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
  Scalar  ///< one value in memory
};

/// The memref is stored as one row: all dimensions but the last are 1.
bool isVector(mlir::MemRefType type);

class Roles {
public:
  /// Emits an error on `op` when its loops are no rows and columns.
  static mlir::FailureOr<Roles> compute(mlir::linalg::LinalgOp op);

  Role of(mlir::OpOperand &operand) const;
  /// The operand has rows and columns, but runs over them the other way round.
  bool isTransposed(mlir::OpOperand &operand) const;
  bool hasRows() const { return needRow; }
  bool hasColumns() const { return needCol; }
  /// What the op reduces, if anything: Full stands for nothing.
  Role reduced() const { return reduction; }

private:
  mlir::linalg::LinalgOp op;
  int rowLoop = -1, colLoop = -1; ///< the outermost one of the row
  bool needRow = false, needCol = false;
  Role reduction = Role::Full;
};

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_ROLES_H
