//===- InsertSync.cpp - order the engines by flags ------------------------------------------===//
//
// Collect what each engine op touches; for every two ops of different engines in conflict note an order in the innermost
// block that holds both, and the reverse one for the block's next execution; drop what is implied; hand out flags; emit.
//
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "SyncGraph.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <set>

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOINSERTSYNC
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

static constexpr int kEvents = 8;

namespace {
struct EngineOp {
  Operation *op;
  Pipe pipe;
  SmallVector<Access> accesses;
};

using PipePair = std::pair<Pipe, Pipe>;

class SyncInserter {
public:
  explicit SyncInserter(func::FuncOp func) : func(func) {}
  void run();

private:
  void collect();
  bool orderPair(const EngineOp &first, const EngineOp &second);
  BlockOrders &ordersOf(Block *block);
  void fitEvents();
  int eventsOf(PipePair pair) const;
  bool meet(PipePair pair) const;
  void emit();
  void emitOrder(const BlockOrders &block, const Order &order, int event, OpBuilder &b);

  func::FuncOp func;
  std::vector<EngineOp> ops;
  llvm::MapVector<Block *, BlockOrders> blocks;
  DenseMap<Operation *, Value> turns;
  DenseMap<Operation *, int> places; // of each op in its block
};
} // namespace

void SyncInserter::collect() {
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isEngineOp(op))
      ops.push_back({op, cast<PipeOpInterface>(op).getPipe(), collectAccesses(op)});
  });
}

BlockOrders &SyncInserter::ordersOf(Block *block) {
  auto [entry, isNew] = blocks.insert({block, {}});
  BlockOrders &orders = entry->second;
  if (!isNew)
    return orders;
  orders.block = block;
  for (Operation &op : *block) {
    places[&op] = static_cast<int>(orders.ops.size());
    orders.ops.push_back(&op);
  }
  orders.outermost = nullptr;
  for (Operation *parent = block->getParentOp(); parent != func; parent = parent->getParentOp())
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      if (!orders.loop)
        orders.loop = loop;
      orders.outermost = loop;
    }
  return orders;
}

/// `first` comes before `second` in the program text. True when a loop around both makes their order matter again.
bool SyncInserter::orderPair(const EngineOp &first, const EngineOp &second) {
  // The innermost block that holds both, and the op of that block that each is (in).
  DenseMap<Block *, Operation *> above;
  for (Operation *op = first.op; op != func; op = op->getParentOp())
    above[op->getBlock()] = op;
  Operation *mine = second.op;
  while (!above.contains(mine->getBlock()))
    mine = mine->getParentOp();
  Operation *other = above[mine->getBlock()];
  BlockOrders &block = ordersOf(mine->getBlock());
  int a = places[other], b = places[mine];
  if (a == b) { // two branches of one scf.if: they meet only through the loop around it
    if (block.loop)
      block.meetings.push_back({std::min(first.pipe, second.pipe), std::max(first.pipe, second.pipe), a});
    return true;
  }
  // The halves of a tile alternate with the trips of its own loop only; seen from a deeper loop it is one buffer.
  bool byTurn = block.loop != nullptr;
  for (const Access &x : first.accesses)
    for (const Access &y : second.accesses)
      if (Overlap overlap = conflict(x, y); overlap == Overlap::always || (overlap == Overlap::sameTurn && x.turns != block.loop))
        byTurn = false;
  auto add = [&](Order order) {
    // Outside of loops duplicates are few and do no harm; a list that is long anyway is not searched for them.
    if ((!block.loop && block.orders.size() > 512) || !llvm::is_contained(block.orders, order))
      block.orders.push_back(order);
  };
  add({first.pipe, second.pipe, a, b, /*again=*/false, byTurn});
  if (block.loop)
    add({second.pipe, first.pipe, b, a, /*again=*/true, byTurn});
  return block.loop != nullptr;
}

/// Events that the orders from pair.first to pair.second take.
int SyncInserter::eventsOf(PipePair pair) const {
  int count = 0;
  for (auto &[block, orders] : blocks)
    for (const Order &order : orders.orders)
      if (order.src == pair.first && order.dst == pair.second)
        count += order.byTurn ? 2 : 1;
  return count;
}

bool SyncInserter::meet(PipePair pair) const {
  for (auto &[block, orders] : blocks)
    for (const Meeting &meeting : orders.meetings)
      if ((meeting.a == pair.first && meeting.b == pair.second) || (meeting.a == pair.second && meeting.b == pair.first))
        return true;
  return false;
}

/// Makes do with eight events per ordered pair; a meeting takes the last one of both directions.
void SyncInserter::fitEvents() {
  std::set<PipePair> pairs;
  for (auto &[block, orders] : blocks)
    for (const Order &order : orders.orders)
      pairs.insert({order.src, order.dst});
  auto over = [&](PipePair pair) { return eventsOf(pair) > kEvents - (meet(pair) ? 1 : 0); };
  for (PipePair pair : pairs)
    if (over(pair))
      for (auto &[block, orders] : blocks)
        joinOrders(orders, pair.first, pair.second);
  // A meeting costs both directions an event, so look at all pairs again until none is over.
  for (auto pair = llvm::find_if(pairs, over); pair != pairs.end(); pair = llvm::find_if(pairs, over)) {
    // The block with the most orders between the two gives up its flags.
    BlockOrders *victim = nullptr;
    size_t most = 0;
    for (auto &[block, orders] : blocks) {
      size_t count = llvm::count_if(orders.orders, [&](const Order &order) { return order.src == pair->first && order.dst == pair->second; });
      if (count > most) {
        most = count;
        victim = &orders;
      }
    }
    replaceByMeetings(*victim, pair->first, pair->second);
  }
}

void SyncInserter::emitOrder(const BlockOrders &block, const Order &order, int event, OpBuilder &b) {
  Location loc = func.getLoc();
  Operation *set = block.ops[order.set], *wait = block.ops[order.wait];
  if (order.byTurn) {
    Value turn = getTurn(cast<scf::ForOp>(block.loop), turns);
    auto id = [&]() -> Value {
      if (event == 0)
        return turn;
      OpBuilder top(turn.getContext());
      top.setInsertionPointAfterValue(turn);
      Value base = top.create<arith::ConstantIndexOp>(loc, event);
      return top.create<arith::AddIOp>(loc, turn, base);
    }();
    b.setInsertionPointAfter(set);
    b.create<SetFlagDynOp>(loc, order.src, order.dst, id);
    b.setInsertionPoint(wait);
    b.create<WaitFlagDynOp>(loc, order.src, order.dst, id);
  } else {
    b.setInsertionPointAfter(set);
    b.create<SetFlagOp>(loc, order.src, order.dst, event);
    b.setInsertionPoint(wait);
    b.create<WaitFlagOp>(loc, order.src, order.dst, event);
  }
  if (!order.again)
    return;
  // The first execution finds the flag raised; what the last one raises is consumed. Between executions exactly one token is
  // out, however the loops around the block nest.
  for (int i = 0; i < (order.byTurn ? 2 : 1); ++i) {
    b.setInsertionPoint(block.outermost);
    b.create<SetFlagOp>(loc, order.src, order.dst, event + i);
    b.setInsertionPointAfter(block.outermost);
    b.create<WaitFlagOp>(loc, order.src, order.dst, event + i);
  }
}

void SyncInserter::emit() {
  OpBuilder b(func.getContext());
  Location loc = func.getLoc();
  std::map<PipePair, int> next;
  for (auto &[key, block] : blocks) {
    for (const Order &order : block.orders) {
      int &event = next[{order.src, order.dst}];
      emitOrder(block, order, event, b);
      event += order.byTurn ? 2 : 1;
    }
    std::set<std::tuple<Pipe, Pipe, int>> done;
    for (const Meeting &meeting : block.meetings) {
      // The same engine begins every meeting of two: were it the other one's turn next, that one could raise its flag for the
      // next meeting before the first has consumed the one of this.
      Pipe first = std::min(meeting.a, meeting.b), second = std::max(meeting.a, meeting.b);
      if (!done.insert({first, second, meeting.at}).second)
        continue;
      b.setInsertionPoint(block.ops[meeting.at]);
      b.create<SetFlagOp>(loc, first, second, kEvents - 1);
      b.create<WaitFlagOp>(loc, first, second, kEvents - 1);
      b.create<SetFlagOp>(loc, second, first, kEvents - 1);
      b.create<WaitFlagOp>(loc, second, first, kEvents - 1);
    }
  }
}

/// Ops of a cube and of a vector section run on different cores, which flags do not order.
static bool onDifferentCores(Operation *a, Operation *b) {
  return (a->getParentOfType<SectionCubeOp>() && b->getParentOfType<SectionVectorOp>()) ||
         (a->getParentOfType<SectionVectorOp>() && b->getParentOfType<SectionCubeOp>());
}

void SyncInserter::run() {
  collect();
  for (size_t j = 0; j < ops.size(); ++j) {
    // Outside of loops, the last op of an engine that this one must follow stands for all before it.
    llvm::SmallDenseSet<Pipe, 8> followed;
    for (size_t i = j; i-- > 0;) {
      if (ops[i].pipe == ops[j].pipe || followed.contains(ops[i].pipe) || onDifferentCores(ops[i].op, ops[j].op))
        continue;
      bool touches = llvm::any_of(ops[i].accesses, [&](const Access &a) {
        return llvm::any_of(ops[j].accesses, [&](const Access &b) { return conflict(a, b) != Overlap::none; });
      });
      if (!touches)
        continue;
      if (!orderPair(ops[i], ops[j]))
        followed.insert(ops[i].pipe);
      if (followed.size() == 6)
        break;
    }
  }
  for (auto &[key, block] : blocks)
    dropImplied(block);
  fitEvents();
  emit();
}

/// Orders are found in nests of scf.for and scf.if, where sections may stand.
static bool isStructured(func::FuncOp func) {
  WalkResult result = func.walk([](Operation *op) {
    bool known = op->getNumRegions() == 0 || isa<func::FuncOp, scf::ForOp, scf::IfOp, SectionCubeOp, SectionVectorOp>(op);
    bool branches = llvm::any_of(op->getRegions(), [](Region &region) { return !region.empty() && !region.hasOneBlock(); });
    return known && !branches ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

/// Other control flow: the engines take turns.
static void serialize(func::FuncOp func) {
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isEngineOp(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    b.create<BarrierOp>(op->getLoc(), PipeAttr::get(op->getContext(), Pipe::PIPE_ALL));
  }
}

namespace {
struct InsertSyncPass : public pto_mlir::pto::impl::PTOInsertSyncBase<InsertSyncPass> {
  void runOnOperation() override {
    getOperation().walk([](func::FuncOp func) {
      bool byHand = false, engines = false;
      func.walk([&](Operation *op) {
        byHand |= isa<SetFlagOp, WaitFlagOp, SetFlagDynOp, WaitFlagDynOp>(op);
        engines |= isEngineOp(op);
      });
      if (byHand || !engines)
        return;
      if (isStructured(func))
        SyncInserter(func).run();
      else
        serialize(func);
    });
  }
};
} // namespace
