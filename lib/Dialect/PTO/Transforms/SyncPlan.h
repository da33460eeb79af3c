//===- SyncPlan.h - where flags of a kernel stand, and whether they are enough -----*- C++ -*-===//
//
// The proof walks the kernel once per way through it (loops to a fixed point, both ways of a branch) and keeps, for
// every engine and every raised flag, the ops whose last execution may not be over as far as that engine knows, or the
// engine that raised the flag knew. docs/rationale-sync.md says why this proves the order of every two accesses and
// that no flag is raised twice.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_SYNCPLAN_H
#define PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_SYNCPLAN_H

#include "SyncConflicts.h"
#include "SyncGraph.h"
#include "TripBounds.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace pto_mlir::pto {

using OrdersByBlock = llvm::MapVector<mlir::Block *, BlockOrders>;

/// An order or a meeting of a block.
struct Signal {
  BlockOrders *block;
  size_t index; // in block->orders or block->meetings
  bool isMeeting;
  size_t leader; // the first signal with the same events

  const Order &order() const { return block->orders[index]; }
  const Meeting &meeting() const { return block->meetings[index]; }
};

/// What stands around an op, as indices of signals: meetings, waits and the first sets of flags for next executions
/// before it; the last waits of those and sets behind it, in this order.
struct Gap {
  llvm::SmallVector<size_t, 2> meetings, waits, firstSets, lastWaits, sets;
};

struct SyncPlan {
  explicit SyncPlan(OrdersByBlock &blocks);

  std::vector<Signal> signals;
  llvm::MapVector<mlir::Operation *, Gap> gaps;
};

/// Decides for subsets of a plan's signals whether they order the kernel.
class SyncProof {
public:
  SyncProof(mlir::func::FuncOp func, const std::vector<EngineOp> &ops, const SyncConflicts &conflicts,
            const SyncPlan &plan);

  /// Do the signals in `alive` order all conflicts, and is no flag raised before its last token is taken?
  bool holds(const std::vector<bool> &alive);
  /// Machine words looked at so far.
  uint64_t getWork() const { return work; }

private:
  struct Node {
    enum Kind : uint8_t { exec, set, wait, meet, loop, branch } kind;
    size_t a = 0, b = 0;               // see SyncPlan.cpp
    std::vector<size_t> parities = {}; // of exec: which parities choose the item
    TripBounds trips = {};
    std::vector<Node> body = {}, other = {};
  };
  /// For each engine, and for each raised flag, the ops that it cannot assume to have ended.
  struct State {
    BitRows unknown;
    std::vector<bool> raised;
    void join(const State &from);
  };

  void addBlock(mlir::Block &block, Section section, std::vector<Node> &nodes);
  void addSignal(Node::Kind kind, size_t signal, bool allTurns, std::vector<Node> &nodes);
  size_t engineOf(Pipe pipe);
  size_t parityOf(mlir::Operation *loop);
  bool run(const std::vector<Node> &nodes, State &state);
  bool runLoop(const Node &node, State &state);
  bool raise(size_t token, size_t src, State &state);
  void execute(size_t item, size_t engine, State &state);
  void learn(size_t engine, size_t from, State &state);

  const std::vector<EngineOp> &ops;
  const SyncConflicts &conflicts;
  const SyncPlan &plan;
  llvm::DenseMap<mlir::Operation *, size_t> opNumbers;
  std::vector<Pipe> engines;
  std::vector<mlir::Operation *> parityLoops; // loops of which the trips' parity matters
  std::vector<uint8_t> parity;                // of the trip that the walk is in
  std::vector<size_t> firstToken;             // of each signal
  size_t numTokens = 0;
  std::vector<std::vector<Node>> kernels; // one per kind of core
  const std::vector<bool> *alive = nullptr;
  uint64_t work = 0;
  /// Words of states that loops began with, in this proof, and how many there may be: behind that there is no proof.
  uint64_t walked = 0;
  static constexpr uint64_t kMostWalked = uint64_t(1) << 28;
  uint64_t trips = 1; // that the loops around make, where they are walked trip by trip
};

} // namespace pto_mlir::pto

#endif
