// The host program of an orchestrator that decides at run time: func.func @main in ops of the vm dialect.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_TASKPROGRAM_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_TASKPROGRAM_H

#include "Types.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "pto_mlir/Dialect/VM/IR/VMProgram.h"
#include "pypto/ir/node.h"

namespace pto_mlir::pypto_frontend {

/// Emits at a place that moves on. Numbers are i64 (truth too) or f64; memory is a tensor of one axis.
class TaskProgram {
public:
  TaskProgram(mlir::MLIRContext &context, const std::string &name, const pypto::ir::Span &span);

  // Ports. Outputs are given in the order of the function's results.
  /// What a run gives; dynamic extents are those of the run. `isPreset`: the contents of an output, which is no input.
  mlir::Value port(const std::string &name, llvm::ArrayRef<int64_t> shape, pypto::DataType dtype, bool isPreset);
  mlir::Value extent(mlir::Value given, int64_t axis);
  /// The memory of a port of so many elements; of an output a copy that begins with what a run gives. `isGiven`: a run
  /// gives all of it, else all or nothing.
  mlir::Value memoryOf(mlir::Value given, mlir::Value elements);
  mlir::Value output(mlir::Value given, mlir::Value elements, bool isGiven);
  /// The only element of a port; null where the host has no numbers of this type.
  mlir::Value number(mlir::Value given);
  /// The module, with memories returned by name. Nothing may be emitted any more.
  struct Result {
    std::string name;
    mlir::Value memory;
    llvm::SmallVector<int64_t> shape;
    llvm::SmallVector<mlir::Value> extents; ///< those that are dynamic
  };
  mlir::OwningOpRef<mlir::ModuleOp> finish(llvm::ArrayRef<Result> results);

  void at(const pypto::ir::Span &span) { loc = locationOf(context, span); }
  mlir::Value constant(int64_t value);
  mlir::Value constant(double value);
  /// The operator on two numbers of one type; null where it has none.
  mlir::Value binary(pypto::ir::NodeKind kind, mlir::Value a, mlir::Value b);
  mlir::Value toFloat(mlir::Value integer);
  mlir::Value toInteger(mlir::Value number);
  /// Whether a number is not zero, as i1.
  mlir::Value condition(mlir::Value number);
  /// Faults with `message` unless `a` `kind` `b`.
  void check(pypto::ir::NodeKind kind, mlir::Value a, mlir::Value b, const std::string &message);

  /// Memory of so many elements that kernels will write.
  mlir::Value reserve(mlir::Value elements, pypto::DataType dtype);
  /// Memory of so many elements that are zero.
  mlir::Value zeros(int64_t elements, pypto::DataType dtype);
  /// The element at an index, which waits for its producer; null where the host has no numbers of this type.
  mlir::Value read(mlir::Value memory, mlir::Value index);
  /// `count` elements of memory.
  mlir::Value part(mlir::Value memory, mlir::Value offset, int64_t count);
  mlir::Value part(mlir::Value memory, mlir::Value offset, mlir::Value count);
  /// `isRanked`: the last argument is the device, of several.
  void submit(const std::string &kernel, llvm::ArrayRef<mlir::Value> arguments, const std::string &directions,
              bool isRanked);
  /// A number as a kernel's scalar.
  mlir::Value scalar(mlir::Value number, pypto::DataType dtype);

  // Blocks, each at the end of the function.
  mlir::Block *block() { return b.getInsertionBlock(); }
  mlir::Block *addBlock() { return b.createBlock(&main.getBody(), main.getBody().end()); }
  mlir::Type integerType() { return b.getI64Type(); }
  mlir::Type floatType() { return b.getF64Type(); }
  mlir::Value addArgument(mlir::Block *block, mlir::Type type) { return block->addArgument(type, loc); }
  void goOn(mlir::Block *block) { b.setInsertionPointToEnd(block); }
  void branch(mlir::Block *target, mlir::ValueRange operands = {});
  void branch(mlir::Value condition, mlir::Block *taken, mlir::Block *other, mlir::ValueRange otherOperands = {});
  /// Takes back what `block` ends with and all blocks behind `last`, and goes on in `block`.
  void takeBack(mlir::Block *block, mlir::Block *last);
  mlir::Block *last() { return &main.getBody().back(); }

private:
  mlir::Value compare(pypto::ir::NodeKind kind, mlir::Value a, mlir::Value b);
  mlir::Value make(const char *kind, mlir::Value a, mlir::Value b2);
  mlir::Type memoryType(pypto::DataType dtype);

  mlir::MLIRContext &context;
  mlir::Location loc;
  mlir::OpBuilder b;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp main;
};

} // namespace pto_mlir::pypto_frontend

#endif
