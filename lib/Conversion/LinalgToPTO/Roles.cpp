//===- Roles.cpp - roles of the operands of a linalg op ------------------------===//

#include "Roles.h"

using namespace mlir;

namespace pto_mlir {

bool isVector(MemRefType type) {
  return type.getRank() <= 1 || llvm::all_of(type.getShape().drop_back(), [](int64_t dim) { return dim == 1; });
}

/// Whether every operand of `op` is indexed by loops `a` and `b` in adjacent dimensions, or by neither.
static bool sideBySide(linalg::LinalgOp op, int a, int b) {
  if (op.getIteratorTypesArray()[a] != op.getIteratorTypesArray()[b])
    return false;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    if (!map.isFunctionOfDim(a) && !map.isFunctionOfDim(b))
      return true;
    int last = -1; // the loop of the previous result, unit loops skipped
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        return false;
      int loop = dim.getPosition();
      if (loop == b)
        // The column loop comes last: a tile of the operand has the same rows.
        return last == a && map.getResults().back() == getAffineDimExpr(extents.size() - 1, map.getContext());
      if (extents[loop] != 1)
        last = loop;
    }
    return false;
  });
}

FailureOr<Roles> Roles::compute(linalg::LinalgOp op) {
  Roles roles;
  roles.op = op;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  auto iterators = op.getIteratorTypesArray();
  int loops = extents.size();
  roles.colLoop = loops - 1;
  roles.needCol = loops > 0 && extents.back() != 1;
  int last = -1;
  for (int i = 0; i + 1 < loops; ++i) {
    if (extents[i] == 1)
      continue;
    if (last >= 0 && !sideBySide(op, last, i))
      return op->emitOpError("runs over more than two dimensions of a tile");
    if (last < 0)
      roles.rowLoop = i;
    last = i;
    roles.needRow = true;
  }
  auto reduces = [&](int loop) { return loop >= 0 && iterators[loop] == utils::IteratorType::reduction; };
  if (roles.needCol && reduces(roles.colLoop))
    roles.reduction = Role::Column;
  if (roles.needRow && reduces(roles.rowLoop)) {
    if (roles.reduction != Role::Full)
      return op->emitOpError("reduces rows and columns at once");
    roles.reduction = Role::Row;
  }
  return roles;
}

Role Roles::of(OpOperand &operand) const {
  AffineMap map = const_cast<linalg::LinalgOp &>(op).getMatchingIndexingMap(&operand);
  auto uses = [&](int loop) { return loop >= 0 && map.isFunctionOfDim(loop); };
  bool hasRow = needRow && uses(rowLoop), hasCol = needCol && uses(colLoop);
  if (hasRow == needRow && hasCol == needCol) {
    // With a single column, an operand stored as a vector is a column vector.
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    return needRow && !needCol && type && isVector(type) ? Role::Column : Role::Full;
  }
  if (hasCol)
    return Role::Row;
  if (hasRow)
    return Role::Column;
  if (needRow && needCol)
    return Role::Scalar;
  return needRow ? Role::Row : Role::Column;
}

bool Roles::isTransposed(OpOperand &operand) const {
  if (!needRow || !needCol)
    return false;
  AffineMap map = const_cast<linalg::LinalgOp &>(op).getMatchingIndexingMap(&operand);
  int row = -1, col = -1;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && (int)dim.getPosition() == rowLoop)
      row = i;
    if (dim && (int)dim.getPosition() == colLoop)
      col = i;
  }
  return row >= 0 && col >= 0 && col < row;
}

} // namespace pto_mlir
