//===- RecurrentPart.h - what both functions of a kernel share --*- C++ -*-===//
//
// A unit is some rows of the batch in one direction. The cores of a block go
// through its steps together:
//
//   cube core                                  vector cores
//                                              states = initial states; ready
//   each stage of each step:
//     wait for ready; state times weights;     wait for full; the stage's panel, which
//     full                                     writes states and output; ready
//   wait for the last ready
//
// A product lies in the unit's rows of a tensor of the workspace, states in the rows
// of the result behind those of the steps. Without `live` the output of the step before is
// the state h, but for the first step.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_RECURRENT_RECURRENTPART_H
#define PTO_MLIR_LIB_KERNELS_RECURRENT_RECURRENTPART_H

#include "../Cube/Rings.h"
#include "pto_mlir/Kernels/Recurrence.h"

namespace pto_mlir::recurrent {

using cube::Emitter;
using cube::Ix;

/// On the function of a recurrence: {rows, panels}. For each of one or two numbers of rows of a unit, the functions
/// that set the states and those of the stages.
constexpr llvm::StringLiteral kRecurrenceAttr = "pto.recurrence";

/// A recurrence's kernel.
struct Recurrence {
  top::RecurrentOp op;
  top::RecurrentOp::Extents extents;
  llvm::SmallVector<Stage> stages;
  llvm::SmallVector<int64_t> rows;                                 ///< of a unit: of all but the last, of the last
  llvm::SmallVector<llvm::SmallVector<mlir::func::FuncOp>> panels; ///< for each of `rows`
  llvm::SmallVector<mlir::RankedTensorType> slots;                 ///< workspace: the product, then what stages hand on
  mlir::SmallVector<mlir::Type> types;                             ///< of the kernel's arguments
  unsigned firstSlot = 0, result = 0;

  int64_t units() const { return extents.directions * unitsOfDirection(); }
  int64_t unitsOfDirection() const { return ceilDiv(extents.batch, rows.front()); }
  int64_t productColumns() const { return slots.front().getDimSize(1); }
};

/// The tensors of the workspace.
enum Slot : unsigned { kProductSlot, kTurnSlot, kUpdateSlot, kResetSlot };

/// Semaphores: the product is there, the state for the next product is.
constexpr int32_t kFull = 0, kReady = 1;

class RecurrentPart {
protected:
  RecurrentPart(mlir::func::FuncOp func, const Recurrence &recurrence, int64_t cores)
      : e(func), r(recurrence), op(recurrence.op) {
    e.cores = cores;
  }

  /// `body` for each unit of this block, as `u`.
  void forUnits(llvm::function_ref<void()> body);
  /// A step, and the row of [steps + states, ..] that has the state before it: h, with `live` always the last one's.
  struct Step {
    Ix number, before;
  };
  /// `body` with each step, in the order of the unit's direction.
  void forSteps(llvm::function_ref<void(Step)> body);

  /// The row of [.., directions, batch, hidden] or [directions, batch, ..] where the unit begins; `step` steps behind.
  Ix stateRow(Ix step) { return e.add(e.mul(step, r.extents.directions * r.extents.batch), u.row); }
  /// Where state 0 (h) or 1 (c) lies.
  Ix state(int64_t number) { return stateRow(e.constant(r.extents.steps + number)); }

  struct Unit {
    Ix number, direction, row, rowOfBatch; ///< `row` counts those of the directions before, too
    unsigned size = 0;                     ///< number of its rows among Recurrence::rows
    int64_t rows = 0;
  };

  Emitter e;
  const Recurrence &r;
  top::RecurrentOp op;
  Unit u;
};

/// Emit the bodies of the functions of both kinds of core, whose entry blocks are empty and whose arguments are
/// pointers. `cores` is the number of blocks of a launch: 0 when it is not known.
void buildCubePart(mlir::func::FuncOp func, const Recurrence &recurrence, int64_t cores);
void buildVectorPart(mlir::func::FuncOp func, const Recurrence &recurrence, int64_t cores);

} // namespace pto_mlir::recurrent

#endif // PTO_MLIR_LIB_KERNELS_RECURRENT_RECURRENTPART_H
