//===- SyncSharing.cpp - orders that use the same events ----------------------------===//

#include "SyncSharing.h"

using namespace mlir;
using namespace pto_mlir::pto;

/// Proofs that a function is worth.
static constexpr unsigned kMostTries = 128;

std::set<PipePair> pto_mlir::pto::getPairs(const OrdersByBlock &blocks) {
  std::set<PipePair> pairs;
  for (auto &[block, orders] : blocks)
    for (const Order &order : orders.orders)
      pairs.insert({order.src, order.dst});
  return pairs;
}

int pto_mlir::pto::eventsOf(const OrdersByBlock &blocks, PipePair pair) {
  int count = 0;
  std::set<int> shared;
  for (auto &[block, orders] : blocks)
    for (const Order &order : orders.orders)
      if (order.src == pair.first && order.dst == pair.second &&
          (order.share == kUnshared || shared.insert(order.share).second))
        count += order.byTurn ? 2 : 1;
  return count;
}

/// Whether the blocks are in, or are, different branches of one scf.if.
static bool exclude(Block *a, Block *b) {
  for (Operation *parent = a->getParentOp(); parent; parent = parent->getParentOp())
    if (auto branch = dyn_cast<scf::IfOp>(parent)) {
      Region *ofA = nullptr, *ofB = nullptr;
      for (Region &region : branch->getRegions()) {
        ofA = region.isAncestor(a->getParent()) ? &region : ofA;
        ofB = region.isAncestor(b->getParent()) ? &region : ofB;
      }
      if (ofB)
        return ofA != ofB;
    }
  return false;
}

namespace {
class Sharing {
public:
  Sharing(func::FuncOp func, const std::vector<EngineOp> &ops, const SyncConflicts &conflicts, OrdersByBlock &blocks)
      : func(func), ops(ops), conflicts(conflicts), blocks(blocks) {}

  bool fit(PipePair pair, int limit) {
    for (auto [one, other] : candidates(pair)) {
      if (eventsOf(blocks, pair) <= limit)
        return true;
      if (tryToShare({{one, other}}))
        continue;
      // What says that a flag may be raised again is often the order that goes back.
      Place backOfOne = back(one), backOfOther = back(other);
      if (backOfOne.order && backOfOther.order)
        tryToShare({{one, other}, {backOfOne, backOfOther}});
    }
    return eventsOf(blocks, pair) <= limit;
  }

private:
  struct Place {
    Order *order = nullptr;
    BlockOrders *block = nullptr;
  };

  /// Pairs of orders, those first that cost no overlap: of blocks of which only one is executed; then neighbours.
  std::vector<std::pair<Place, Place>> candidates(PipePair pair) {
    std::vector<Place> mine;
    for (auto &entry : blocks)
      for (Order &order : entry.second.orders)
        if (order.src == pair.first && order.dst == pair.second)
          mine.push_back({&order, &entry.second});
    std::vector<std::tuple<bool, size_t, size_t>> keys; // distance and first of the two
    for (size_t i = 0; i < mine.size(); ++i)
      for (size_t k = i + 1; k < mine.size(); ++k)
        if (mine[i].block != mine[k].block && mine[i].order->again == mine[k].order->again &&
            mine[i].order->byTurn == mine[k].order->byTurn)
          keys.emplace_back(!exclude(mine[i].block->block, mine[k].block->block), k - i, i);
    llvm::sort(keys);
    std::vector<std::pair<Place, Place>> found;
    found.reserve(keys.size());
    for (auto [_, distance, i] : keys)
      found.emplace_back(mine[i], mine[i + distance]);
    return found;
  }

  /// The order that the other way round comes closest around this one.
  static Place back(Place of) {
    auto closer = [](const Order &a, const Order &b) {
      return std::tuple(a.wait, -a.set) > std::tuple(b.wait, -b.set);
    };
    Place found{nullptr, of.block};
    for (Order &order : of.block->orders) {
      const Order &forward = of.order->again ? order : *of.order, &again = of.order->again ? *of.order : order;
      if (order.src == of.order->dst && order.dst == of.order->src && order.byTurn == of.order->byTurn &&
          !forward.again && again.again && again.wait <= forward.set && again.set >= forward.wait &&
          (!found.order || closer(order, *found.order)))
        found.order = &order;
    }
    return found;
  }

  bool tryToShare(std::initializer_list<std::pair<Place, Place>> pairs) {
    if (tries++ >= kMostTries)
      return false;
    std::vector<int> before;
    forEach([&](Order &order) { before.push_back(order.share); });
    for (auto [one, other] : pairs)
      join(*one.order, *other.order);
    if (blocksDiffer() && isProven())
      return true;
    size_t i = 0;
    forEach([&](Order &order) { order.share = before[i++]; });
    return false;
  }

  bool isProven() const {
    SyncPlan plan(blocks);
    return SyncProof(func, ops, conflicts, plan).holds(std::vector<bool>(plan.signals.size(), true));
  }

  /// Whether no two orders of one block share: they would make the engines take turns in it.
  bool blocksDiffer() const {
    return llvm::all_of(blocks, [](const auto &entry) {
      std::set<int> shares;
      return llvm::all_of(entry.second.orders, [&](const Order &order) {
        return order.share == kUnshared || shares.insert(order.share).second;
      });
    });
  }

  void join(Order &one, Order &other) {
    int joined = next++, ofOne = one.share, ofOther = other.share;
    forEach([&](Order &order) {
      if (order.share != kUnshared && (order.share == ofOne || order.share == ofOther))
        order.share = joined;
    });
    one.share = other.share = joined;
  }

  void forEach(llvm::function_ref<void(Order &)> visit) {
    for (auto &entry : blocks)
      llvm::for_each(entry.second.orders, visit);
  }

  func::FuncOp func;
  const std::vector<EngineOp> &ops;
  const SyncConflicts &conflicts;
  OrdersByBlock &blocks;
  unsigned tries = 0;
  int next = kUnshared + 1;
};
} // namespace

bool pto_mlir::pto::shareEvents(func::FuncOp func, const std::vector<EngineOp> &ops, const SyncConflicts &conflicts,
                                OrdersByBlock &blocks, llvm::function_ref<int(PipePair)> limit) {
  Sharing sharing(func, ops, conflicts, blocks);
  if (llvm::all_of(getPairs(blocks), [&](PipePair pair) { return sharing.fit(pair, limit(pair)); }))
    return true;
  for (auto &entry : blocks)
    for (Order &order : entry.second.orders)
      order.share = kUnshared;
  return false;
}
