//===- SyncGraph.h - which orders between engines are needed -------------*- C++ -*-===//
//
// An order says: what engine `src` does up to op `set` of a block comes before what engine `dst` does from op `wait` of
// the same block on; `again`: of the block's next execution. Ops are named by their place in the block.
// docs/rationale-sync.md explains why one block is enough and why dropping an implied order is safe.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_SYNCGRAPH_H
#define PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_SYNCGRAPH_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

namespace pto_mlir::pto {

/// Of an order with events of its own.
inline constexpr int kUnshared = -1;

struct Order {
  Pipe src, dst;
  int set, wait;
  bool again;            // false: set < wait, same execution; true: wait <= set, next execution
  bool byTurn;           // one flag per turn of the block's innermost loop
  int share = kUnshared; // orders of the same number, of one kind and in different blocks, use the same events

  bool operator==(const Order &other) const {
    return src == other.src && dst == other.dst && set == other.set && wait == other.wait && again == other.again &&
           byTurn == other.byTurn;
  }
};

/// Both engines meet before op `at` of the block: each waits for the other.
struct Meeting {
  Pipe a, b;
  int at;
};

/// The orders of one block.
struct BlockOrders {
  mlir::Block *block = nullptr;
  mlir::scf::ForOp loop;                // innermost loop around the block, or null
  mlir::Operation *outermost = nullptr; // outermost loop around the block, or null
  std::vector<mlir::Operation *> ops;
  std::vector<Order> orders;
  std::vector<Meeting> meetings;
};

/// Drops orders that others of the block imply, program order of each engine included; of equal meetings all but one.
void dropImplied(BlockOrders &block);

/// Joins orders of one kind between two engines into stronger ones (later set, earlier wait) to save flags.
void joinOrders(BlockOrders &block, Pipe src, Pipe dst);

/// Replaces all orders between two engines, in both directions, by meetings.
void replaceByMeetings(BlockOrders &block, Pipe a, Pipe b);

} // namespace pto_mlir::pto

#endif
