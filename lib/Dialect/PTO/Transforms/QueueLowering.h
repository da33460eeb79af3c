//===- QueueLowering.h - lowering of one function's queues ------------------------------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_QUEUELOWERING_H
#define PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_QUEUELOWERING_H

#include "Accesses.h"
#include "CoreFlags.h"
#include "QueueBuffers.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <map>

namespace pto_mlir::pto {

/// One direction of a queue, as one core sees it.
struct Side {
  Queue queue;
  bool produces;
  int64_t ringOffset, period;
  int64_t dataFlag, freeFlag;
  mlir::Value local;  // address of the consumer's buffer
  std::string buffer; // its name, if it is a reserved one
};

/// Index arithmetic that folds constants.
class Indices {
public:
  Indices(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}
  mlir::Value constant(int64_t value) { return b.create<mlir::arith::ConstantIndexOp>(loc, value); }
  template <typename Op> mlir::Value of(mlir::Value lhs, int64_t rhs) { return fold<Op>(lhs, constant(rhs)); }
  template <typename Op> mlir::Value fold(mlir::Value lhs, mlir::Value rhs) {
    return b.createOrFold<Op>(loc, lhs, rhs);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs, int64_t rhs) {
    return b.createOrFold<mlir::arith::CmpIOp>(loc, predicate, lhs, constant(rhs));
  }

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// First bytes of the reserved buffers of the module, by name.
using Bases = std::map<std::string, int64_t>;

/// Whether a split other than 0 divides rows: 1 and 3; 2 and 4 divide columns.
inline bool splitsRows(int64_t split) { return split % 2 == 1; }

/// Replaces the queue ops of one core's function. QueueSlots.cpp has the addresses, QueuePush.cpp and QueuePop.cpp the
/// two ends, QueueCounts.cpp the tile counts through control flow.
class QueueLowering {
public:
  QueueLowering(mlir::func::FuncOp func, KernelKind kind, const Bases &bases)
      : func(func), isCube(kind == KernelKind::cube), arch(targetOf(func)), bases(bases) {}
  mlir::LogicalResult run();

private:
  /// Tiles pushed and popped so far, two numbers for each queue: by the core as producer, as consumer; and slots freed.
  using Counts = mlir::SmallVector<mlir::Value>;
  enum { kPushed, kPopped, kFreed, kCounts };

  /// The rows and columns that travel.
  static std::pair<int64_t, int64_t> extentOf(TileBufType tile);
  Side sideOf(Queue queue, bool produces);
  mlir::LogicalResult lowerBlock(mlir::Block &block, Counts &counts);
  mlir::LogicalResult lowerLoop(mlir::scf::ForOp loop, Counts &counts);
  mlir::LogicalResult lowerBranch(mlir::scf::IfOp branch, Counts &counts);
  mlir::SmallVector<unsigned> countsIn(mlir::Operation *op);
  unsigned countOf(mlir::Value queue, unsigned which) { return queueNumber.lookup(queue) * kCounts + which; }
  mlir::LogicalResult push(TPushOp op, mlir::Value count);
  mlir::LogicalResult pop(TPopOp op, mlir::Value count);
  mlir::LogicalResult release(TFreeOp op, mlir::Value count);
  void drain(mlir::Operation *before, const Side &side, mlir::Value pushed);
  void wait(mlir::OpBuilder &b, mlir::Location loc, Pipe pipe, int64_t flag);
  void raise(mlir::OpBuilder &b, mlir::Location loc, Pipe pipe, int64_t flag);
  mlir::Value slotView(mlir::OpBuilder &b, mlir::Location loc, const Side &side, mlir::Value count, TileBufType tile,
                       int64_t split, mlir::Type &type, mlir::Value valid = {});
  mlir::LogicalResult checkFit(mlir::Operation *op, const Side &side, TileBufType tile, int64_t split);
  mlir::LogicalResult collect();
  mlir::LogicalResult eraseDead();
  AllocTileOp poppedTile(TPopOp op, const Side &side, TileBufType tile, mlir::Value count);
  void giveBack(mlir::OpBuilder &b, mlir::Location loc, const Side &side);
  std::optional<int64_t> baseOf(const Side &side);
  mlir::Value placeOf(mlir::OpBuilder &b, mlir::Location loc, const Side &side, mlir::Value count, int64_t place);
  void pushDirect(TPushOp op, const Side &side, TileBufType tile, mlir::Value count, int64_t split);

  mlir::func::FuncOp func;
  bool isCube;
  const Target &arch;
  const Bases &bases;
  mlir::SmallVector<Queue> queues;
  mlir::DenseMap<mlir::Value, unsigned> queueNumber;
  mlir::SmallVector<mlir::Operation *> dead;                         // ops to erase at the end
  mlir::DenseMap<mlir::Value, int64_t> ringBytes;                    // of a direct queue's ring, as its pops use it
  bool usesWhole = false;                                            // some queue's tiles are not split
  std::map<std::pair<mlir::Operation *, unsigned>, unsigned> popsOf; // of a loop's body and a queue
};

} // namespace pto_mlir::pto

#endif // PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_QUEUELOWERING_H
