//===- InsertSync.cpp - order the engines by flags ------------------------------------------===//
//
// Collect what each engine op touches; for two ops of different engines in conflict note an order in the innermost
// block that holds both, and the reverse one for the block's next execution, unless one that is noted already says as
// much; make do with eight events for two engines; drop what the proof holds without; hand out flags; emit.
//
//===----------------------------------------------------------------------===//

#include "SyncSharing.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <map>
#include <set>

#define DEBUG_TYPE "pto-insert-sync"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOINSERTSYNC
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

/// Machine words that proofs may look at in one function (a tenth of a second or so) while needless orders are looked
/// for.
static constexpr uint64_t kMostWork = uint64_t(1) << 27;

namespace {
/// A block around an op, and the place in it of the op that it is (in).
struct Place {
  BlockOrders *block;
  int at;
};

class SyncInserter {
public:
  explicit SyncInserter(func::FuncOp func) : func(func), numEvents(targetOf(func).eventIds) {}
  /// False when there is no proof that the flags are enough; then nothing was changed.
  bool run();

private:
  void collect();
  void noteOrders(size_t index);
  void joinAll();
  void meetWhereNeeded();
  bool share();
  bool needsEvents() const;
  int limitOf(PipePair pair) const { return numEvents - (meet(pair) ? 1 : 0); }
  bool meet(PipePair pair) const;
  bool dropNeedless();
  void restore(const OrdersByBlock &from);

  func::FuncOp func;
  int numEvents; // between two engines
  std::vector<EngineOp> ops;
  std::vector<SmallVector<Place, 4>> places; // of each op, outermost first
  std::optional<SyncConflicts> conflicts;
  OrdersByBlock blocks;
};
} // namespace

/// Engine ops, and the blocks that hold some.
void SyncInserter::collect() {
  DenseMap<Operation *, int> placeOf;
  // Blocks first: their addresses are kept.
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isEngineOp(op))
      return;
    EngineOp engine{op, pipeOf(op), Section::none, collectAccesses(op), {}, 0};
    for (Operation *around = op; around != func; around = around->getParentOp()) {
      if (llvm::isa<SectionCubeOp, SectionVectorOp>(around))
        engine.section = llvm::isa<SectionCubeOp>(around) ? Section::cube : Section::vector;
      auto [entry, isNew] = blocks.insert({around->getBlock(), {}});
      if (!isNew)
        continue;
      BlockOrders &block = entry->second;
      block.block = around->getBlock();
      for (Operation &inner : *block.block) {
        placeOf[&inner] = static_cast<int>(block.ops.size());
        block.ops.push_back(&inner);
      }
      for (Operation *parent = block.block->getParentOp(); parent != func; parent = parent->getParentOp())
        if (auto loop = dyn_cast<scf::ForOp>(parent)) {
          if (!block.loop)
            block.loop = loop;
          block.outermost = loop;
        }
    }
    ops.push_back(std::move(engine));
  });
  for (const EngineOp &op : ops) {
    SmallVector<Place, 4> &mine = places.emplace_back();
    for (Operation *around = op.op; around != func; around = around->getParentOp())
      mine.push_back({&blocks.find(around->getBlock())->second, placeOf[around]});
    std::reverse(mine.begin(), mine.end());
  }
  conflicts.emplace(ops);
}

/// Notes what must come before op `index`, and what must not come again before it has ended. Of the ops of one engine
/// in one block, the last one stands for all that must come before, and the first one for all that must not come again
/// too early.
void SyncInserter::noteOrders(size_t index) {
  struct Noted {
    int last = -1, lastByTurn = -1, first = std::numeric_limits<int>::max(), firstByTurn = first;
  };
  const EngineOp &second = ops[index];
  std::map<std::pair<size_t, Pipe>, Noted> noted; // by depth of the block
  std::vector<uint64_t> always, byTurn;
  conflicts->findOps(index, always, byTurn);
  for (size_t word = 0; word <= index / 64; ++word)
    for (uint64_t bits = always[word] | byTurn[word]; bits; bits &= bits - 1) {
      size_t i = word * 64 + static_cast<size_t>(llvm::countr_zero(bits));
      const EngineOp &first = ops[i];
      bool apart = first.section != Section::none && second.section != Section::none && first.section != second.section;
      if (i >= index || first.pipe == second.pipe || apart)
        continue;
      size_t depth = 0, most = std::min(places[i].size(), places[index].size());
      while (depth + 1 < most && places[i][depth + 1].block == places[index][depth + 1].block)
        ++depth;
      BlockOrders &block = *places[i][depth].block;
      int a = places[i][depth].at;
      if (a == places[index][depth].at) { // two branches of one scf.if: they meet only through the loop around it
        if (block.loop)
          block.meetings.push_back({std::min(first.pipe, second.pipe), std::max(first.pipe, second.pipe), a});
        continue;
      }
      // The halves of a tile alternate with the trips of its own loop only; seen from a deeper loop it is one buffer.
      bool plain = always[word] >> i % 64 & 1;
      for (const Access &x : first.accesses)
        for (const Access &y : second.accesses)
          plain |= conflict(x, y) == Overlap::sameTurn && x.turns != block.loop;
      Noted &those = noted[{depth, first.pipe}];
      (plain ? those.last : those.lastByTurn) = std::max(plain ? those.last : those.lastByTurn, a);
      (plain ? those.first : those.firstByTurn) = std::min(plain ? those.first : those.firstByTurn, a);
    }
  for (const auto &entry : noted) {
    const Noted &those = entry.second;
    Place place = places[index][entry.first.first];
    Pipe other = entry.first.second;
    BlockOrders &block = *place.block;
    int b = place.at;
    auto add = [&](int a, bool ofTurn) {
      if (a >= 0 && a < b)
        block.orders.push_back({other, second.pipe, a, b, /*again=*/false, ofTurn});
    };
    auto addAgain = [&](int a, bool ofTurn) {
      if (block.loop && a < b)
        block.orders.push_back({second.pipe, other, b, a, /*again=*/true, ofTurn});
    };
    add(those.last, false);
    add(those.lastByTurn, true);
    addAgain(those.first, false);
    addAgain(those.firstByTurn, true);
  }
}

bool SyncInserter::meet(PipePair pair) const {
  for (auto &[block, orders] : blocks)
    for (const Meeting &meeting : orders.meetings)
      if ((meeting.a == pair.first && meeting.b == pair.second) ||
          (meeting.a == pair.second && meeting.b == pair.first))
        return true;
  return false;
}

bool SyncInserter::needsEvents() const {
  return llvm::any_of(getPairs(blocks), [&](PipePair pair) { return eventsOf(blocks, pair) > limitOf(pair); });
}

/// Orders of different blocks use the same events: least overlap is lost.
bool SyncInserter::share() {
  bool enough = shareEvents(func, ops, *conflicts, blocks, [&](PipePair pair) { return limitOf(pair); });
  PTO_DEBUG("@" << func.getName() << ": sharing events is " << (enough ? "" : "not ") << "enough");
  return enough;
}

/// Joins the orders of each block where two engines need more events than the target has.
void SyncInserter::joinAll() {
  for (PipePair pair : getPairs(blocks))
    if (eventsOf(blocks, pair) > limitOf(pair))
      for (auto &[block, orders] : blocks)
        joinOrders(orders, pair.first, pair.second);
}

/// Makes do with the target's events per ordered pair; a meeting takes the last one of both directions.
void SyncInserter::meetWhereNeeded() {
  std::set<PipePair> pairs = getPairs(blocks);
  auto over = [&](PipePair pair) { return eventsOf(blocks, pair) > limitOf(pair); };
  // A meeting costs both directions an event, so look at all pairs again until none is over.
  for (auto pair = llvm::find_if(pairs, over); pair != pairs.end(); pair = llvm::find_if(pairs, over)) {
    // The block with the most orders between the two gives up its flags.
    BlockOrders *victim = nullptr;
    size_t most = 0;
    for (auto &[block, orders] : blocks) {
      size_t count = llvm::count_if(
          orders.orders, [&](const Order &order) { return order.src == pair->first && order.dst == pair->second; });
      if (count > most) {
        most = count;
        victim = &orders;
      }
    }
    replaceByMeetings(*victim, pair->first, pair->second);
  }
}

/// Drops orders and meetings without which the proof still holds, those of outer blocks first, since
/// those in a loop often suffice for the ops around it. False when even all of them give no proof.
bool SyncInserter::dropNeedless() {
  SyncPlan plan(blocks);
  SyncProof proof(func, ops, *conflicts, plan);
  std::vector<bool> alive(plan.signals.size(), true);
  if (!proof.holds(alive))
    return false;
  auto works = [&] { return proof.getWork() < kMostWork; };
  auto depthOf = [](const Signal &signal) {
    size_t depth = 0;
    for (Operation *parent = signal.block->block->getParentOp(); parent; parent = parent->getParentOp())
      ++depth;
    return depth;
  };
  // Meetings stop two engines, so they go first; of the orders in a block the long ones, which short ones imply.
  auto key = [&](size_t i) {
    const Signal &signal = plan.signals[i];
    if (signal.isMeeting)
      return std::tuple(false, depthOf(signal), int64_t(0));
    const Order &order = signal.order();
    return std::tuple(true, depthOf(signal),
                      int64_t(order.set) - order.wait - (order.again ? int64_t(signal.block->ops.size()) : 0));
  };
  std::vector<std::pair<std::tuple<bool, size_t, int64_t>, size_t>> candidates;
  candidates.reserve(alive.size());
  for (size_t i = 0; i < alive.size(); ++i)
    candidates.push_back({key(i), i});
  llvm::sort(candidates);
  auto without = [&](size_t i) {
    alive[i] = false;
    bool holds = works() && proof.holds(alive);
    alive[i] = !holds;
    return holds;
  };
  for (auto &[_, i] : candidates)
    without(i);
  // A flag and the one that goes back keep each other from being raised twice: where nothing else needs them, both go.
  for (auto &[_, i] : candidates)
    for (size_t j = 0; j < alive.size() && alive[i] && works(); ++j) {
      const Signal &one = plan.signals[i], &back = plan.signals[j];
      if (j == i || !alive[j] || one.isMeeting || back.isMeeting || one.block != back.block || one.order().again ||
          !back.order().again || one.order().src != back.order().dst || one.order().dst != back.order().src)
        continue;
      alive[j] = false;
      if (!without(i))
        alive[j] = true;
    }
  for (auto &entry : blocks) {
    BlockOrders &block = entry.second;
    std::vector<Order> orders;
    std::vector<Meeting> meetings;
    for (size_t i = 0; i < alive.size(); ++i)
      if (alive[i] && plan.signals[i].block == &block) {
        if (plan.signals[i].isMeeting)
          meetings.push_back(plan.signals[i].meeting());
        else
          orders.push_back(plan.signals[i].order());
      }
    block.orders = std::move(orders);
    block.meetings = std::move(meetings);
  }
  return true;
}

namespace {
/// Writes a plan into the function.
class Emitter {
public:
  Emitter(func::FuncOp func, const SyncPlan &plan)
      : func(func), plan(plan), b(func.getContext()), numEvents(targetOf(func).eventIds) {}
  void run();

private:
  void emitFlag(size_t signal, bool isSet);
  void emitFlags(size_t signal, bool isSet);
  void emitMeeting(const Meeting &meeting);
  Value getId(scf::ForOp loop, int event);

  func::FuncOp func;
  const SyncPlan &plan;
  OpBuilder b;
  int numEvents;           // between two engines
  std::vector<int> events; // of each signal
  DenseMap<Operation *, Value> turns;
  std::map<std::pair<Operation *, int>, Value> ids;
};
} // namespace

/// event + the trip's turn, computed at the top of the loop.
Value Emitter::getId(scf::ForOp loop, int event) {
  Value &id = ids[{loop, event}];
  if (id)
    return id;
  Value turn = getTurn(loop, turns);
  if (event == 0)
    return id = turn;
  OpBuilder top(turn.getContext());
  top.setInsertionPointAfterValue(turn);
  Value base = top.create<arith::ConstantIndexOp>(func.getLoc(), event);
  return id = top.create<arith::AddIOp>(func.getLoc(), turn, base);
}

/// The flag of an execution of the order's block.
void Emitter::emitFlag(size_t signal, bool isSet) {
  const Order &order = plan.signals[signal].order();
  Location loc = func.getLoc();
  if (!order.byTurn) {
    if (isSet)
      b.create<SetFlagOp>(loc, order.src, order.dst, events[signal]);
    else
      b.create<WaitFlagOp>(loc, order.src, order.dst, events[signal]);
    return;
  }
  Value id = getId(plan.signals[signal].block->loop, events[signal]);
  if (isSet)
    b.create<SetFlagDynOp>(loc, order.src, order.dst, id);
  else
    b.create<WaitFlagDynOp>(loc, order.src, order.dst, id);
}

/// All flags of an order, outside of its loops. The first execution finds them raised; what the last one raises is
/// consumed.
void Emitter::emitFlags(size_t signal, bool isSet) {
  const Order &order = plan.signals[signal].order();
  for (int i = 0; i < (order.byTurn ? 2 : 1); ++i)
    if (isSet)
      b.create<SetFlagOp>(func.getLoc(), order.src, order.dst, events[signal] + i);
    else
      b.create<WaitFlagOp>(func.getLoc(), order.src, order.dst, events[signal] + i);
}

/// The same engine begins every meeting of two: were it the other one's turn next, that one could raise its flag for
/// the next meeting before the first has consumed the one of this.
void Emitter::emitMeeting(const Meeting &meeting) {
  Location loc = func.getLoc();
  b.create<SetFlagOp>(loc, meeting.a, meeting.b, numEvents - 1);
  b.create<WaitFlagOp>(loc, meeting.a, meeting.b, numEvents - 1);
  b.create<SetFlagOp>(loc, meeting.b, meeting.a, numEvents - 1);
  b.create<WaitFlagOp>(loc, meeting.b, meeting.a, numEvents - 1);
}

void Emitter::run() {
  std::map<PipePair, int> next;
  for (const Signal &signal : plan.signals) {
    bool leads = signal.leader == events.size();
    events.push_back(leads ? 0 : events[signal.leader]);
    if (signal.isMeeting || !leads)
      continue;
    int &event = next[{signal.order().src, signal.order().dst}];
    events.back() = event;
    event += signal.order().byTurn ? 2 : 1;
  }
  for (const auto &[op, gap] : plan.gaps) {
    b.setInsertionPoint(op);
    for (size_t signal : gap.meetings)
      emitMeeting(plan.signals[signal].meeting());
    for (size_t signal : gap.waits)
      emitFlag(signal, /*isSet=*/false);
    for (size_t signal : gap.firstSets)
      emitFlags(signal, /*isSet=*/true);
    b.setInsertionPointAfter(op);
    for (size_t signal : gap.lastWaits)
      emitFlags(signal, /*isSet=*/false);
    for (size_t signal : gap.sets)
      emitFlag(signal, /*isSet=*/true);
  }
}

/// Takes orders and meetings from a copy; places keep the addresses of blocks.
void SyncInserter::restore(const OrdersByBlock &from) {
  for (auto &entry : blocks)
    entry.second = from.find(entry.first)->second;
}

bool SyncInserter::run() {
  collect();
  for (size_t index = 0; index < ops.size(); ++index)
    noteOrders(index);
  for (auto &[key, block] : blocks)
    dropImplied(block);
  OrdersByBlock all = blocks;
  bool proven = dropNeedless();
  if (proven && needsEvents() && !share()) {
    joinAll();
    proven = dropNeedless();
    if (proven && needsEvents() && !share()) {
      meetWhereNeeded();
      proven = dropNeedless();
    }
  }
  if (!proven) {
    // Unlike the flags that they replaced, meetings in a loop do not order the ops around it.
    restore(all);
    joinAll();
    meetWhereNeeded();
    proven = dropNeedless();
  }
  if (proven)
    Emitter(func, SyncPlan(blocks)).run();
  return proven;
}

/// Orders are found in nests of scf.for and scf.if, where sections may stand.
static bool isStructured(func::FuncOp func) {
  WalkResult result = func.walk([](Operation *op) {
    bool known =
        op->getNumRegions() == 0 || isa<func::FuncOp, scf::ForOp, scf::IfOp, SectionCubeOp, SectionVectorOp>(op);
    bool branches =
        llvm::any_of(op->getRegions(), [](Region &region) { return !region.empty() && !region.hasOneBlock(); });
    return known && !branches ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

/// Where there is no proof: the engines take turns.
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
      if (isStructured(func) && SyncInserter(func).run()) {
        PTO_DEBUG("@" << func.getName() << ": flags");
        return;
      }
      PTO_DEBUG("@" << func.getName() << ": a barrier after each op");
      func.emitRemark("no set of flags could be proven to order the engines: a barrier of all engines follows each op");
      serialize(func);
    });
  }
};
} // namespace
