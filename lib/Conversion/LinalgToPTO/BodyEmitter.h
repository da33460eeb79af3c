//===- BodyEmitter.h - tile instructions for one linalg op ------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_BODYEMITTER_H
#define PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_BODYEMITTER_H

#include "TileBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

namespace pto_mlir {

/// The state of emitting one body: the item of every value so far. Comparisons and what consumes them are in
/// BodyMasks.cpp, reductions in BodyReduction.cpp.
class BodyEmitter {
public:
  BodyEmitter(mlir::linalg::LinalgOp op, LocalTiles &tiles, Roles roles)
      : op(op), tiles(tiles), roles(roles), builder(op), loc(op->getLoc()) {}
  mlir::LogicalResult emit();

private:
  static std::optional<Binary> binaryKind(mlir::Operation *op);
  static std::optional<pto::CmpMode> compareMode(mlir::Operation *op);
  /// Finds the operands' tiles, and the rows and columns that the op runs over.
  mlir::LogicalResult collectTiles();
  /// Gives each block argument its item.
  mlir::LogicalResult collectItems();
  mlir::FailureOr<mlir::Value> transpose(mlir::OpOperand &operand, mlir::Value source);
  mlir::LogicalResult emitOp(mlir::Operation *inner);
  void convert(mlir::Operation *inner, const Item &from, const Item &to, pto::RoundMode rounding);
  mlir::LogicalResult emitShift(mlir::Operation *inner);
  mlir::LogicalResult emitBits(mlir::Operation *inner);
  mlir::LogicalResult emitBitcast(mlir::arith::BitcastOp bits);
  mlir::LogicalResult emitUnary(mlir::Operation *inner);
  mlir::LogicalResult emitCompare(mlir::Operation *inner, pto::CmpMode mode);
  mlir::LogicalResult emitSelect(mlir::arith::SelectOp select);
  mlir::LogicalResult emitLogic(mlir::Operation *inner);
  mlir::LogicalResult emitFromMask(mlir::Operation *inner);
  Item numbers(const Item &mask, mlir::Type element, std::optional<mlir::Value> destination = std::nullopt);
  Item remask(const Item &mask, Role role, pto::CmpMode mode);
  void reduceTile(Binary kind, mlir::Value source, bool columns, mlir::Value partial);
  mlir::LogicalResult emitReduction(mlir::Value yielded, unsigned init);
  mlir::FailureOr<Item> itemOf(mlir::Operation *user, mlir::Value value);
  mlir::Value destination(mlir::Operation *inner, Role role);
  mlir::Value initTile(unsigned index) { return operandTiles[op.getNumDpsInputs() + index]; }

  mlir::linalg::LinalgOp op;
  LocalTiles &tiles;
  Roles roles;
  mlir::OpBuilder builder;
  mlir::Location loc;
  std::optional<TileBuilder> tile;
  llvm::DenseMap<mlir::Value, Item> items;
  llvm::SmallVector<mlir::Value> operandTiles;
};

/// Emits the tile instructions that compute `op` (a linalg.generic or fill on local memrefs) before it. Every body op
/// becomes one instruction on tiles of the shape that its operands need: a row vector stays one row. Temporaries are
/// reused after their last read. Emits an error on a body op without an instruction.
mlir::LogicalResult emitBody(mlir::linalg::LinalgOp op, LocalTiles &tiles);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_BODYEMITTER_H
