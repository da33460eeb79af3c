// One kernel of the pto dialect as a function of PyPTO.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_RAISER_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_RAISER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pypto/ir/op_registry.h"
#include "pypto/ir/program.h"
#include "llvm/ADT/MapVector.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

/// The operands of an op of the table by what they are to it.
struct Operands {
  llvm::SmallVector<mlir::Value> inputs;
  mlir::Value scratch, dst; ///< null where there is none
};

/// Null `dst` for an op that the table lacks, or that writes no tile, or several.
Operands operandsOf(mlir::Operation *op);
/// The buffer that a tile is, or is another view of.
mlir::Value rootOf(mlir::Value tile);
/// PyPTO's element type of a type of the dialect, or of a number.
std::optional<pypto::DataType> dtypeOf(mlir::Type type);
/// A constant.
ir::ExprPtr numberOf(int64_t value, pypto::DataType dtype = pypto::DataType::INDEX);

/// Writes of buffers become values. Errors are emitted at their op.
class Raiser {
public:
  ir::FunctionPtr function(mlir::func::FuncOp func);

private:
  mlir::LogicalResult parameters(mlir::func::FuncOp func);
  mlir::LogicalResult block(mlir::Block &block);
  mlir::LogicalResult statement(mlir::Operation *op);
  mlir::LogicalResult loop(mlir::scf::ForOp op);
  mlir::LogicalResult arithmetic(mlir::Operation *op);
  mlir::LogicalResult load(pto::TLoadOp op);
  mlir::LogicalResult store(pto::TStoreOp op);
  mlir::LogicalResult byTable(mlir::Operation *op);
  mlir::LogicalResult fromRow(mlir::Operation *op, const ir::OpRow &row, llvm::ArrayRef<mlir::Value> inputs,
                              mlir::Value scratch, mlir::Value dst);

  ir::TileTypePtr tile(mlir::Value value);
  /// What a buffer holds, as the type of `value`; null with an error where nothing has written it.
  ir::ExprPtr read(mlir::Operation *op, mlir::Value value, bool isScratch = false);
  ir::ExprPtr scalar(mlir::Operation *op, mlir::Value value);
  ir::VarPtr assign(const std::string &name, const ir::TypePtr &type, const ir::ExprPtr &value);
  mlir::LogicalResult define(mlir::Operation *op, mlir::Value dst, std::string_view name, ir::Attrs arguments);
  std::optional<ir::Attr> keyword(mlir::Operation *op, const ir::OpParam &param, mlir::Value dst);
  mlir::FailureOr<ir::ExprPtr> list(mlir::Operation *op, mlir::ValueRange values);

  struct Held {
    ir::VarPtr var;
    mlir::Value as; ///< the tile whose type it has
  };
  std::vector<ir::VarPtr> params;
  std::vector<ir::StmtPtr> out;
  llvm::DenseMap<mlir::Value, ir::ExprPtr> scalars;
  llvm::DenseMap<mlir::Value, ir::VarPtr> tensors; // by pointer, and by view
  llvm::MapVector<mlir::Value, Held> held;         // by buffer
  llvm::DenseMap<mlir::Value, ir::MemRefPtr> memrefs;
  llvm::DenseMap<mlir::Value, ir::TileTypePtr> types;
  unsigned count = 0;
};

} // namespace pto_mlir::pypto_frontend

#endif
