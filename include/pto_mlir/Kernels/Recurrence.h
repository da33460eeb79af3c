//===- Recurrence.h - the steps of a recurrence, in stages ------*- C++ -*-===//
//
// A step is one or two stages: a product of a state with rows of the weights,
// then elementwise work on [rows, hidden]. build-recurrent-kernels and the
// lowering to loops share them.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_KERNELS_RECURRENCE_H
#define PTO_MLIR_KERNELS_RECURRENCE_H

#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir::recurrent {

/// What a stage reads and writes: operands, the product, values between stages, states and the output of a step.
/// Without `live` the hidden state is the output of the step before, and no stage writes it.
enum class Tensor { Given, Live, Bias, Peepholes, Product, Update, Reset, Hidden, Cell, Output };

/// `hidden` columns of a tensor: those of a gate, or of a peephole.
struct Part {
  Tensor tensor;
  int64_t gate = 0;
};

struct Stage {
  Tensor left = Tensor::Hidden; ///< times the weights of gates [firstGate, firstGate + gates) is the product
  int64_t firstGate = 0, gates = 0;
  llvm::SmallVector<Part> reads, writes;
};

/// The greatest hidden size of a kernel: a state of 16 rows takes half of the cube core's L1.
inline constexpr int64_t kMostHidden = 4096;

/// The recurrence that a kernel on tensors consists of; null if it is another one.
top::RecurrentOp recurrenceIn(mlir::func::FuncOp kernel);

/// Columns of the products of all stages of `op`.
int64_t productColumns(top::RecurrentOp op);

/// The stages of a step of `op`.
llvm::SmallVector<Stage> stagesOf(top::RecurrentOp op);

/// Whether the parts of `tensor` have one dimension: rows of `live`, columns of the others.
bool isVector(Tensor tensor);
/// The element type of `tensor` in memory.
mlir::Type elementOf(top::RecurrentOp op, Tensor tensor);

/// An error on `op` where it names an activation that there is not.
mlir::LogicalResult checkActivations(top::RecurrentOp op);

/// The elementwise work of `stage` on tensors: `reads` and `inits` are those of stage.reads and stage.writes, of
/// [rows, hidden] or one dimension. Returns what is written, in the types of `inits`.
llvm::SmallVector<mlir::Value> buildStage(top::RecurrentOp op, const Stage &stage, mlir::OpBuilder &b,
                                          mlir::Location loc, llvm::ArrayRef<mlir::Value> reads,
                                          llvm::ArrayRef<mlir::Value> inits);

} // namespace pto_mlir::recurrent

#endif // PTO_MLIR_KERNELS_RECURRENCE_H
