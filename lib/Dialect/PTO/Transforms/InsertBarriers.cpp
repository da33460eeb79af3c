//===- InsertBarriers.cpp - order the ops of each engine --------------------------------===//
//
// Walks a function once with the ops since the last barrier of each engine. A loop begins with those of its own last
// trip, a branch ends with those of both arms.
//
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"

#include <map>

#define DEBUG_TYPE "pto-insert-barriers"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOINSERTBARRIERS
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

namespace {
/// More ops than this since a barrier are not looked at one by one: the next op gets a barrier.
constexpr size_t kMostPending = 64;

/// What an engine may still be working on.
struct Pending {
  std::vector<Access> accesses;
  bool anything = false; // too much to list

  void add(ArrayRef<Access> more) {
    if (anything || accesses.size() + more.size() > 4 * kMostPending) {
      anything = true;
      accesses.clear();
      return;
    }
    accesses.insert(accesses.end(), more.begin(), more.end());
  }
  void add(const Pending &other) {
    if (other.anything)
      anything = true;
    add(other.accesses);
  }
  bool meets(ArrayRef<Access> others) const {
    return anything || llvm::any_of(accesses, [&](const Access &a) {
             return llvm::any_of(others, [&](const Access &b) { return conflict(a, b) != Overlap::none; });
           });
  }
};
using State = std::map<Pipe, Pending>;

class BarrierInserter {
public:
  size_t inserted = 0;

  /// Inserts barriers into the region, entered with `state`; gives what is pending at its end.
  State walk(Region &region, State state) {
    if (region.empty())
      return state;
    for (Operation &op : llvm::make_early_inc_range(region.front()))
      visit(&op, state);
    return state;
  }

private:
  static void join(State &into, const State &from) {
    for (const auto &[pipe, pending] : from)
      into[pipe].add(pending);
  }

  void visit(Operation *op, State &state) {
    if (op->getNumRegions() != 0)
      return enter(op, state);
    if (!isEngineOp(op))
      return;
    Pipe pipe = pipeOf(op);
    if (pipe == Pipe::PIPE_S)
      return;
    SmallVector<Access> accesses = collectAccesses(op);
    Pending &pending = state[pipe];
    if (pending.meets(accesses)) {
      OpBuilder(op).create<BarrierOp>(op->getLoc(), PipeAttr::get(op->getContext(), pipe));
      pending = {};
      ++inserted;
    }
    pending.add(accesses);
  }

  void enter(Operation *op, State &state) {
    State before = state;
    if (!isa<scf::IfOp, SectionCubeOp, SectionVectorOp>(op)) // the last trip's ops are in front of the next one's
      op->walk([&](Operation *inner) {
        if (inner != op && isEngineOp(inner))
          state[pipeOf(inner)].add(collectAccesses(inner));
      });
    State entry = state, after = before;
    for (Region &region : op->getRegions())
      join(after, walk(region, entry));
    state = std::move(after);
  }
};

struct InsertBarriersPass : public pto_mlir::pto::impl::PTOInsertBarriersBase<InsertBarriersPass> {
  void runOnOperation() override {
    getOperation().walk([](func::FuncOp func) {
      bool byHand = false;
      func.walk(
          [&](Operation *op) { byHand |= isa<SetFlagOp, WaitFlagOp, SetFlagDynOp, WaitFlagDynOp, BarrierOp>(op); });
      if (byHand)
        return;
      BarrierInserter inserter;
      inserter.walk(func.getBody(), {});
      PTO_DEBUG("@" << func.getName() << ": " << inserter.inserted << " barriers");
    });
  }
};
} // namespace
