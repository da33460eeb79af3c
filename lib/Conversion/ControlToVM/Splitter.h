// The program of a net with control flow while it is written, and the nets that it calls.
#ifndef PTO_MLIR_LIB_CONVERSION_CONTROLTOVM_SPLITTER_H
#define PTO_MLIR_LIB_CONVERSION_CONTROLTOVM_SPLITTER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Dialect/VM/IR/VMProgram.h"

namespace pto_mlir::control_to_vm {

class Splitter {
public:
  explicit Splitter(mlir::func::FuncOp main);
  /// Replaces `@main` by the program, and adds the nets to the module.
  mlir::LogicalResult run();

private:
  /// A top value in the program: as a tensor, as a number (one element), or both.
  struct Held {
    mlir::Value tensor, number;
  };

  //===-- Control.cpp: regions to blocks --===//
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitIf(top::IfOp op);
  mlir::LogicalResult emitLoop(top::LoopOp op);
  mlir::LogicalResult emitScan(top::ScanOp op);
  /// What asks for extents, and top.nonzero.
  void emitSizes(mlir::Operation *op);
  /// A new block at the end of the program, at whose start the builder then stands.
  mlir::Block *addBlock(mlir::TypeRange types);
  /// Tensors that collect rows: of known length made here, else with no row yet. Null, reported, when a row's shape is
  /// not known.
  mlir::Value collected(mlir::Operation *op, mlir::Type type);
  /// `tensor` as `type`, which may know other extents.
  mlir::Value as(mlir::Type type, mlir::Value tensor);
  void put(mlir::Value tensor, mlir::Value index, mlir::Value row);

  //===-- ScalarOps.cpp: values of one element --===//
  /// Writes `op` as instructions on numbers if it is arithmetic of integers or booleans of one element that are known
  /// here.
  bool emitScalar(mlir::Operation *op);
  bool isKnown(mlir::Value value);
  mlir::Value number(mlir::Value value);
  mlir::Value tensor(mlir::Value value);
  mlir::Value constantTensor(mlir::Value value);
  mlir::Value constant(mlir::Type type, int64_t value);
  mlir::SmallVector<mlir::Value> zeros(mlir::Type type);

  //===-- Nets.cpp --===//
  /// A net of `ops`, called here; what nobody else reads stays inside.
  void emitNet(llvm::ArrayRef<mlir::Operation *> ops);
  /// A call of a new net that computes `results` from `inputs` by `ops`.
  mlir::ValueRange callNet(llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<mlir::Value> inputs,
                           llvm::ArrayRef<mlir::Value> results);

  mlir::ModuleOp module;
  mlir::func::FuncOp main, program;
  mlir::OpBuilder b;
  mlir::Location loc;
  llvm::DenseMap<mlir::Value, Held> held;
  unsigned numNets = 0;
};

} // namespace pto_mlir::control_to_vm

#endif // PTO_MLIR_LIB_CONVERSION_CONTROLTOVM_SPLITTER_H
