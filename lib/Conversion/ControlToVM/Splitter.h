// Builds the program of a net with control flow, and the nets that it calls.
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
  /// A top value in the program: as a tensor, as a scalar (one element), or both.
  struct Held {
    mlir::Value tensor, number;
  };

  //===-- Control.cpp: regions to blocks --===//
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitIf(top::IfOp op);
  mlir::LogicalResult emitLoop(top::LoopOp op);
  mlir::LogicalResult emitScan(top::ScanOp op);
  /// Lowers ops that read extents, top.nonzero and top.host.
  void emitSizes(mlir::Operation *op);
  /// Appends a block to the program and sets the insertion point to its start.
  mlir::Block *addBlock(mlir::TypeRange types);
  /// Creates a tensor for scan outputs: with all rows if their number is static, else with none. Reports an error and
  /// returns null when a row's shape is dynamic.
  mlir::Value collected(mlir::Operation *op, mlir::Type type);
  /// Casts `tensor` to `type`, which may differ in which extents are static.
  mlir::Value as(mlir::Type type, mlir::Value tensor);
  void put(mlir::Value tensor, mlir::Value index, mlir::Value row);

  //===-- ScalarOps.cpp: values of one element --===//
  /// Emits `op` as scalar instructions if it is arithmetic on integers or booleans of one element available as scalars.
  /// Returns whether it did.
  bool emitScalar(mlir::Operation *op);
  bool isKnown(mlir::Value value);
  mlir::Value number(mlir::Value value);
  mlir::Value tensor(mlir::Value value);
  mlir::Value constantTensor(mlir::Value value);
  mlir::Value constant(mlir::Type type, int64_t value);
  mlir::SmallVector<mlir::Value> zeros(mlir::Type type);

  //===-- Nets.cpp --===//
  /// Outlines `ops` into a net and calls it; values without outside users are not results.
  void emitNet(llvm::ArrayRef<mlir::Operation *> ops);
  /// Creates a net that computes `results` from `inputs` by `ops`, and calls it.
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
