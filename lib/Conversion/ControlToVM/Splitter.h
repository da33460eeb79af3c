// Builds the program of a net with control flow, and the nets that it calls.
#ifndef PTO_MLIR_LIB_CONVERSION_CONTROLTOVM_SPLITTER_H
#define PTO_MLIR_LIB_CONVERSION_CONTROLTOVM_SPLITTER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Dialect/VM/IR/VMProgram.h"
#include "llvm/ADT/SetVector.h"

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
  /// What a net computes, and the states whose new values it stores.
  struct Net {
    llvm::SmallVector<mlir::Operation *> ops;
    llvm::SetVector<mlir::Value> inputs;
    llvm::SmallVector<mlir::Value> results;
    llvm::SmallVector<std::pair<mlir::BlockArgument, mlir::Value>> stores;
    llvm::DenseMap<mlir::BlockArgument, mlir::Value> before; // the value of each state
    bool hasState = false;
  };

  //===-- Schedule.cpp --===//
  /// The ops of a block without constants, in the order in which they make the fewest nets.
  llvm::SmallVector<mlir::Operation *> scheduled(mlir::Block &block);

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
  /// Outlines `ops` into a net and calls it; values without outside users are not results. The last net of the program
  /// also stores the new values of states that are replaced whole.
  mlir::LogicalResult emitNet(llvm::ArrayRef<mlir::Operation *> ops, bool isLast = false);
  /// Creates the net and calls it.
  mlir::ValueRange callNet(const Net &net);
  /// Gives the inputs and results of the net's `@main` names of their own.
  void nameTensors(mlir::func::FuncOp function, const Net &net);

  //===-- States.cpp: what lives on the device between runs --===//
  void findStates();
  /// Whether the value is the position, a state, or made of one by writing rows; these are in no tensor of the program.
  bool isState(mlir::Value value) { return versions.contains(value); }
  /// Follows the writes of rows in `net`. Reports an error where an old value is read behind a write.
  mlir::LogicalResult trackStates(Net &net);
  /// Adds the new values of the states that the program replaces whole.
  mlir::LogicalResult storeStates(Net &net);
  /// Arguments of the net's `@main` for all states, so that every net lays them out alike; maps the present values.
  void addStateArguments(mlir::func::FuncOp function, const Net &net, mlir::IRMapping &mapping);
  /// Names the new value of a state that result `number` of the net's `@main` is.
  void markStored(mlir::func::FuncOp function, unsigned number, mlir::BlockArgument state);
  /// A state as a tensor of the program: a copy.
  mlir::Value copyOfState(mlir::Value value);
  /// The type of the program: without states.
  mlir::FunctionType programType();

  mlir::ModuleOp module;
  mlir::func::FuncOp main, program;
  mlir::OpBuilder b;
  mlir::Location loc;
  llvm::DenseMap<mlir::Value, Held> held;
  llvm::SmallVector<mlir::BlockArgument> states;             // and the position
  llvm::DenseMap<mlir::Value, mlir::BlockArgument> versions; // the state that a value is in, before or behind a write
  llvm::DenseMap<mlir::BlockArgument, mlir::Value> newest;   // the value that a state has at this place of the program
  bool isBroken = false;                                     // an error has been reported
  unsigned numNets = 0;
};

} // namespace pto_mlir::control_to_vm

#endif // PTO_MLIR_LIB_CONVERSION_CONTROLTOVM_SPLITTER_H
