// One kernel of the pto dialect as a function of PyPTO.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_RAISER_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_RAISER_H

#include "LinearForm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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
/// Buffers that are read where nothing on the way has written them: they begin with what nobody knows.
llvm::SetVector<mlir::Value> readUnwritten(mlir::Block &block);
/// Whether what lies outside of the valid extents of a tile's writes is nobody's: all give it an extent of their own.
bool isWrittenInPart(mlir::Value root);
/// The buffer that a tile is, or is another view of.
mlir::Value rootOf(mlir::Value tile);
/// The part of another tile that a tile is, or is another view of; null for a whole one.
mlir::Operation *partOf(mlir::Value tile);
/// PyPTO's element type of a type of the dialect, or of a number.
std::optional<pypto::DataType> dtypeOf(mlir::Type type);
/// Fails with an error for an attribute that the operation has no keyword for.
mlir::LogicalResult saysOnly(mlir::Operation *op, const ir::OpRow &row);
/// Whether the op opens or uses a queue between cores.
bool isOfQueue(mlir::Operation *op);
/// Memory that the device or the compiler has itself: of semaphores, and of the slots of queues.
bool isOfCores(mlir::BlockArgument argument);
/// A constant.
ir::ExprPtr numberOf(int64_t value, pypto::DataType dtype = pypto::DataType::INDEX);

struct Rows; // RaiseMatrix.h

/// Writes of buffers become values. Errors are emitted at their op.
class Raiser {
public:
  /// `whole`: the functions of the task, whose accesses say the shapes of the arguments.
  ir::FunctionPtr function(mlir::func::FuncOp func, llvm::ArrayRef<mlir::func::FuncOp> whole);
  static std::vector<ir::ParamDirection> directions(llvm::ArrayRef<mlir::func::FuncOp> whole);

private:
  mlir::LogicalResult parameters(mlir::func::FuncOp func, llvm::ArrayRef<mlir::func::FuncOp> whole);
  mlir::LogicalResult block(mlir::Block &block);
  mlir::LogicalResult statement(mlir::Operation *op);
  mlir::LogicalResult arithmetic(mlir::Operation *op);
  mlir::LogicalResult convert(mlir::Operation *op, ir::ExprPtr value);
  mlir::LogicalResult select(mlir::arith::SelectOp op, llvm::ArrayRef<ir::ExprPtr> operands);
  mlir::LogicalResult constant(mlir::arith::ConstantOp op);
  mlir::LogicalResult load(pto::TLoadOp op);
  mlir::LogicalResult store(pto::TStoreOp op);
  mlir::LogicalResult event(mlir::Operation *op);

  //===-- RaiseQueues.cpp --===//
  mlir::LogicalResult queue(mlir::Operation *op);
  mlir::LogicalResult openQueue(mlir::Operation *op);
  mlir::LogicalResult pop(mlir::Operation *op);
  mlir::LogicalResult quotient(pto::TDivSOp op);
  mlir::LogicalResult columns(pto::TImg2ColOp op);
  std::vector<ir::ExprPtr> validOf(pto::SubsetOp part);
  /// Ops whose lowering is not by the table alone.
  mlir::LogicalResult byName(mlir::Operation *op);
  mlir::LogicalResult elementOrBarrier(mlir::Operation *op);
  mlir::LogicalResult byTable(mlir::Operation *op);
  mlir::LogicalResult evaluate(mlir::Operation *op, std::string_view name, ir::Attrs arguments);
  ir::ExprPtr shapeOf(mlir::Value tile);
  mlir::FailureOr<ir::ExprPtr> indices(mlir::Operation *op, mlir::Value tile, mlir::Value offset);
  mlir::LogicalResult fromRow(mlir::Operation *op, const ir::OpRow &row, llvm::ArrayRef<mlir::Value> inputs,
                              mlir::Value scratch, mlir::Value dst);

  //===-- RaiseFlow.cpp --===//
  struct Held {
    ir::VarPtr var;
    mlir::Value as; ///< the tile whose type it has
  };
  mlir::LogicalResult loop(mlir::scf::ForOp op);
  mlir::LogicalResult branch(mlir::scf::IfOp op);
  mlir::LogicalResult section(mlir::Operation *op);
  /// Buffers that hold something and are written in the region.
  llvm::SmallVector<mlir::Value> written(mlir::Region &region);
  ir::StmtPtr arm(mlir::Region &region, llvm::ArrayRef<mlir::Value> carried,
                  const llvm::MapVector<mlir::Value, Held> &before);
  mlir::FailureOr<std::vector<ir::VarPtr>> resultsOf(mlir::Operation *op, llvm::ArrayRef<mlir::Value> carried,
                                                     const llvm::MapVector<mlir::Value, Held> &before);
  void leave(llvm::MapVector<mlir::Value, Held> before, llvm::ArrayRef<mlir::Value> carried,
             llvm::ArrayRef<ir::VarPtr> results);

  //===-- RaiseViews.cpp --===//
  struct Window {
    ir::VarPtr tensor;
    ir::ExprPtr offsets, sizes;
  };
  /// A tensor that views show in parts, with these strides.
  struct Array {
    llvm::SmallVector<int64_t> strides;
    ir::VarPtr tensor;
    bool isTransposed = false; ///< a matrix whose columns lie one behind the other
  };
  static bool isOf(const Rows &rows, const Array &array);
  mlir::FailureOr<ir::TypePtr> tensorType(llvm::ArrayRef<mlir::func::FuncOp> whole, unsigned number,
                                          pypto::DataType dtype);
  /// Variables for the other shapes of an argument, whose first one is that of the parameter.
  void otherShapes(mlir::Value argument, llvm::ArrayRef<Array> shapes);
  /// Indices of the element in an array with these strides; what does not divide counts along the last axes.
  mlir::FailureOr<ir::ExprPtr> places(mlir::Operation *op, LinearForm form, llvm::ArrayRef<int64_t> strides);
  mlir::FailureOr<Window> window(mlir::Operation *op, mlir::Value part);
  /// A load or store of one element of an argument.
  mlir::LogicalResult element(mlir::Operation *op);

  ir::TileTypePtr tile(mlir::Value value);
  /// What a buffer holds, as the type of `value`; null with an error where nothing has written it.
  ir::ExprPtr read(mlir::Operation *op, mlir::Value value, bool isScratch = false);
  ir::ExprPtr withValidOf(const ir::TileTypePtr &wanted, const ir::ExprPtr &tile);
  ir::ExprPtr readPart(mlir::Operation *op, mlir::Value value);
  mlir::LogicalResult create(mlir::Operation *op, mlir::Value root);
  ir::ExprPtr scalar(mlir::Operation *op, mlir::Value value);
  ir::ExprPtr sum(mlir::Operation *op, const LinearForm &form);
  ir::VarPtr variable(const std::string &name, const ir::TypePtr &type);
  ir::VarPtr assign(const std::string &name, const ir::TypePtr &type, const ir::ExprPtr &value);
  mlir::LogicalResult define(mlir::Operation *op, mlir::Value dst, std::string_view name, ir::Attrs arguments);
  mlir::LogicalResult insert(mlir::Operation *op, mlir::Value dst, const ir::VarPtr &made);
  std::optional<ir::Attr> keyword(mlir::Operation *op, const ir::OpParam &param, mlir::Value dst);
  mlir::FailureOr<ir::ExprPtr> list(mlir::Operation *op, mlir::ValueRange values);

  ir::FunctionType type = ir::FunctionType::InCore;
  std::vector<ir::VarPtr> params;
  std::vector<ir::StmtPtr> out;
  llvm::DenseMap<mlir::Value, ir::ExprPtr> scalars;
  llvm::DenseMap<mlir::Value, ir::VarPtr> tensors;              // by argument
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Array>> arrays; // by argument: it, and other shapes of its memory
  llvm::MapVector<mlir::Value, Held> held;                      // by buffer
  llvm::DenseMap<mlir::Value, ir::MemRefPtr> memrefs;
  std::map<int64_t, ir::VarPtr> popped; // the last tile of each queue
  unsigned memrefNumber = 0;
  llvm::DenseMap<mlir::Value, ir::TileTypePtr> types;
  llvm::SetVector<mlir::Value> unwritten; // buffers that are created, since something is read first
  unsigned count = 0;
};

} // namespace pto_mlir::pypto_frontend

#endif
