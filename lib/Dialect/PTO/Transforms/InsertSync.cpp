//===- InsertSync.cpp - order the engines by flags ------------------------------------------===//
//
// Collect what each engine op touches; for two ops of different engines in conflict note an order in the innermost block that holds
// both, and the reverse one for the block's next execution, unless one that is noted already says as much; drop what is implied;
// hand out flags; emit.
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
/// A block around an op, and the op of that block that it is (in).
struct Place {
  Block *block;
  Operation *op;
  bool looped; // it may be executed more than once
};

struct EngineOp {
  Operation *op;
  Pipe pipe;
  SmallVector<Access> accesses;
  SmallVector<Place, 4> places;          // outermost first
  unsigned section;                      // 0 none, 1 cube, 2 vector
  llvm::SmallDenseSet<Pipe, 4> followers; // engines that an order makes wait for this op
};

/// Of one op, one block around it that is executed again, and one engine: the earliest op of that engine that may run again only
/// behind this op. A forward order of the latest one has been noted.
struct Again {
  size_t depth;
  Pipe pipe;
  const EngineOp *always = nullptr, *sameTurn = nullptr;
};

using PipePair = std::pair<Pipe, Pipe>;

class SyncInserter {
public:
  explicit SyncInserter(func::FuncOp func) : func(func) {}
  void run();

private:
  void collect();
  void orderBefore(size_t index);
  BlockOrders &ordersOf(Block *block);
  void dropServedByLoops();
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
  std::set<std::tuple<Block *, int, Pipe, Pipe>> met;
};
} // namespace

void SyncInserter::collect() {
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isEngineOp(op))
      return;
    EngineOp engine{op, cast<PipeOpInterface>(op).getPipe(), collectAccesses(op), {}, 0, {}};
    for (Operation *around = op; around != func; around = around->getParentOp()) {
      engine.places.push_back({around->getBlock(), around, around->getParentOfType<scf::ForOp>() != nullptr});
      if (isa<SectionCubeOp, SectionVectorOp>(around))
        engine.section = isa<SectionCubeOp>(around) ? 1 : 2;
    }
    std::reverse(engine.places.begin(), engine.places.end());
    ops.push_back(std::move(engine));
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

/// The depth of the innermost block that holds both.
static size_t commonDepth(const EngineOp &a, const EngineOp &b) {
  size_t depth = 0, most = std::min(a.places.size(), b.places.size());
  while (depth + 1 < most && a.places[depth + 1].block == b.places[depth + 1].block)
    ++depth;
  return depth;
}

/// Notes what must come before op `index`, and what must not come again before it has ended.
///
/// Going back from the op, the first op of an engine in conflict stands for all before it: its flag is raised behind everything that the
/// engine did up to there, wherever that stood. An op that another one of this engine has waited for needs no flag either. Both hold only
/// for orders that are really noted, whose flags are raised and consumed on every path. A block that is executed again has forward orders
/// of its own all the same: they keep the flags for the next execution from being raised twice. Of what comes again, in each block the
/// earliest op of an engine stands for the later ones; a flag for every trip also serves what a flag per half would.
void SyncInserter::orderBefore(size_t index) {
  EngineOp &second = ops[index];
  llvm::SmallDenseSet<Pipe, 8> followed;
  SmallVector<Again, 4> agains;
  bool looped = second.places.back().looped;
  for (size_t i = index; i-- > 0;) {
    EngineOp &first = ops[i];
    if (first.pipe == second.pipe || first.section + second.section == 3) // the sections' cores are ordered by other means
      continue;
    Overlap overlap = Overlap::none;
    size_t depth = commonDepth(first, second);
    bool again = first.places[depth].looped;
    if (!again && (followed.contains(first.pipe) || first.followers.contains(second.pipe)))
      continue;
    BlockOrders *block = nullptr;
    for (const Access &x : first.accesses)
      for (const Access &y : second.accesses) {
        Overlap both = conflict(x, y);
        if (both == Overlap::none || overlap == Overlap::always)
          continue;
        if (!block)
          block = &ordersOf(first.places[depth].block);
        // The halves of a tile alternate with the trips of its own loop only; seen from a deeper loop it is one buffer.
        overlap = both == Overlap::sameTurn && block->loop && x.turns == block->loop ? Overlap::sameTurn : Overlap::always;
      }
    if (overlap == Overlap::none)
      continue;
    int a = places[first.places[depth].op], b = places[second.places[depth].op];
    if (a == b) { // two branches of one scf.if: they meet only through the loop around it
      if (block->loop && met.insert({block->block, a, std::min(first.pipe, second.pipe), std::max(first.pipe, second.pipe)}).second)
        block->meetings.push_back({std::min(first.pipe, second.pipe), std::max(first.pipe, second.pipe), a});
      continue;
    }
    auto known = llvm::find_if(agains, [&](const Again &known) { return known.depth == depth && known.pipe == first.pipe; });
    if (!again || known == agains.end()) {
      block->orders.push_back({first.pipe, second.pipe, a, b, /*again=*/false, overlap == Overlap::sameTurn});
      followed.insert(first.pipe);
      first.followers.insert(second.pipe);
      if (!looped && followed.size() == 6)
        break;
    }
    if (!again)
      continue;
    if (known == agains.end())
      known = agains.insert(agains.end(), Again{depth, first.pipe});
    (overlap == Overlap::always ? known->always : known->sameTurn) = &first;
  }
  for (const Again &again : agains) {
    const EngineOp *first = again.always ? again.always : again.sameTurn;
    BlockOrders &block = ordersOf(first->places[again.depth].block);
    block.orders.push_back({second.pipe, again.pipe, places[second.places[again.depth].op], places[first->places[again.depth].op], /*again=*/true,
                            /*byTurn=*/!again.always});
  }
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

/// A loop's first wait and last set for its next executions stand before and behind it: they serve an order from before the loop
/// to inside of it, and from inside of it to behind it, when every op in the loop that the order is about is covered.
void SyncInserter::dropServedByLoops() {
  // Of each loop outside of loops: the places in its body of the first and last op that holds one of an engine.
  std::map<std::pair<Operation *, Pipe>, std::pair<int, int>> extents;
  for (const EngineOp &op : ops)
    for (size_t depth = 0; depth + 1 < op.places.size(); ++depth)
      if (isa<scf::ForOp>(op.places[depth].op)) {
        ordersOf(op.places[depth + 1].block);
        int at = places[op.places[depth + 1].op];
        auto [entry, isNew] = extents.insert({{op.places[depth].op, op.pipe}, {at, at}});
        entry->second.first = std::min(entry->second.first, at);
        entry->second.second = std::max(entry->second.second, at);
        break; // the outermost loop
      }
  auto serves = [&](Operation *loop, const Order &order, bool first) {
    if (!isa<scf::ForOp>(loop))
      return false;
    auto entry = extents.find({loop, first ? order.dst : order.src});
    auto body = blocks.find(&loop->getRegion(0).front());
    if (entry == extents.end() || body == blocks.end())
      return false;
    return llvm::any_of(body->second.orders, [&](const Order &again) {
      return again.again && again.src == order.src && again.dst == order.dst && (first ? again.wait <= entry->second.first : again.set >= entry->second.second);
    });
  };
  for (auto &entry : blocks) {
    auto &block = entry.second;
    if (!block.loop)
      llvm::erase_if(block.orders, [&](const Order &order) { return serves(block.ops[order.wait], order, true) || serves(block.ops[order.set], order, false); });
  }
}

void SyncInserter::run() {
  collect();
  for (size_t index = 0; index < ops.size(); ++index)
    orderBefore(index);
  for (auto &[key, block] : blocks)
    dropImplied(block);
  fitEvents();
  dropServedByLoops(); // last: meetings, which may replace a loop's flags, serve nothing outside of it
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
