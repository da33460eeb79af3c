//===- SyncGraph.cpp - which orders between engines are needed ---------------------===//

#include "SyncGraph.h"

using namespace mlir;
using namespace pto_mlir::pto;

namespace {
/// How far each engine must have come: its earliest place that is after the source. Waits before op k stand at 2k, sets
/// after it at 2k + 1; a later execution of the block adds `round`.
class Reach {
public:
  Reach(Pipe src, int64_t place) { earliest[src] = place; }
  int64_t of(Pipe pipe) const {
    auto found = earliest.find(pipe);
    return found == earliest.end() ? std::numeric_limits<int64_t>::max() : found->second;
  }
  /// Applies an order with its set at `from` and its wait at `to`; true when it changed the state.
  bool follow(const Order &order, int64_t from, int64_t to) {
    if (of(order.src) > from || of(order.dst) <= to)
      return false;
    earliest[order.dst] = to;
    return true;
  }

private:
  llvm::SmallDenseMap<Pipe, int64_t, 8> earliest;
};
} // namespace

/// Do the orders other than `skip` imply `orders[skip]`? `turnStep`: the step to the next execution is made by orders
/// per turn only, which all pair the same executions; else by plain ones only.
static bool isImplied(const std::vector<Order> &orders, const std::vector<bool> &alive, size_t skip, int64_t round,
                      bool turnStep) {
  const Order &goal = orders[skip];
  int64_t target = 2 * goal.wait + (goal.again ? round : 0);
  Reach reach(goal.src, 2 * goal.set + 1);
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t i = 0; i < orders.size(); ++i) {
      if (i == skip || !alive[i])
        continue;
      const Order &order = orders[i];
      int64_t from = 2 * order.set + 1, to = 2 * order.wait;
      if (order.again) {
        if (goal.again && order.byTurn == turnStep)
          changed |= reach.follow(order, from, to + round);
        continue;
      }
      changed |= reach.follow(order, from, to);
      if (goal.again)
        changed |= reach.follow(order, from + round, to + round);
    }
  }
  return reach.of(goal.dst) <= target;
}

/// The same for orders of one execution, in time linear in their number: walks the block with what each engine knows
/// the others to have passed, and keeps an order only when its wait learns from it. Orders to the next execution stay.
static void dropImpliedInLine(BlockOrders &block) {
  using Known = llvm::SmallDenseMap<Pipe, int, 8>; // the last place whose op that engine has finished
  std::vector<Order> orders, kept;
  for (const Order &order : block.orders)
    (order.again ? kept : orders).push_back(order);
  std::vector<SmallVector<size_t, 2>> waits(block.ops.size()), sets(block.ops.size());
  // Of several waits at one op, the one with the latest set implies the most.
  llvm::sort(orders, [](const Order &a, const Order &b) {
    return std::tuple(a.wait, -a.set, a.src, a.dst) < std::tuple(b.wait, -b.set, b.src, b.dst);
  });
  for (size_t i = 0; i < orders.size(); ++i) {
    waits[orders[i].wait].push_back(i);
    sets[orders[i].set].push_back(i);
  }
  llvm::SmallDenseMap<Pipe, Known, 8> engines;
  std::vector<Known> atSet(orders.size());
  for (size_t place = 0; place < block.ops.size(); ++place) {
    for (size_t i : waits[place]) {
      const Order &order = orders[i];
      Known &known = engines[order.dst];
      auto passed = known.find(order.src);
      if (passed != known.end() && passed->second >= order.set)
        continue;
      kept.push_back(order);
      for (auto [pipe, last] : atSet[i]) {
        auto [entry, isNew] = known.insert({pipe, last});
        entry->second = std::max(entry->second, last);
      }
      known[order.src] = order.set;
    }
    for (size_t i : sets[place])
      atSet[i] = engines[orders[i].src];
  }
  block.orders = std::move(kept);
}

/// Drops each order beside which there is one of the same two engines that is raised later, or at the same place, and
/// waited for earlier. For orders of one execution it is the same whether flags exist once or per turn; one to every
/// next execution also serves each next of the same turn.
static void dropCovered(std::vector<Order> &orders) {
  // Covering orders are sorted before covered ones.
  llvm::sort(orders, [](const Order &a, const Order &b) {
    return std::tuple(a.src, a.dst, a.again, -a.set, a.wait, a.byTurn) <
           std::tuple(b.src, b.dst, b.again, -b.set, b.wait, b.byTurn);
  });
  std::vector<Order> kept;
  int earliest = 0, earliestByTurn = 0; // waits seen
  for (size_t i = 0; i < orders.size(); ++i) {
    const Order &order = orders[i];
    if (i == 0 || std::tie(order.src, order.dst, order.again) !=
                      std::tie(orders[i - 1].src, orders[i - 1].dst, orders[i - 1].again))
      earliest = earliestByTurn = std::numeric_limits<int>::max();
    bool covered = order.wait >= earliest || ((order.byTurn || !order.again) && order.wait >= earliestByTurn);
    int &mine = order.byTurn ? earliestByTurn : earliest;
    mine = std::min(mine, order.wait);
    if (!covered)
      kept.push_back(order);
  }
  orders = std::move(kept);
}

void pto_mlir::pto::dropImplied(BlockOrders &block) {
  auto place = [](const Meeting &meeting) { return std::tuple(meeting.at, meeting.a, meeting.b); };
  llvm::sort(block.meetings, [&](const Meeting &a, const Meeting &b) { return place(a) < place(b); });
  block.meetings.erase(std::unique(block.meetings.begin(), block.meetings.end(),
                                   [&](const Meeting &a, const Meeting &b) { return place(a) == place(b); }),
                       block.meetings.end());
  std::vector<Order> &orders = block.orders;
  dropCovered(orders);
  constexpr size_t kMany = 256; // from here on, comparing all with all takes long
  if (orders.size() > kMany)
    return dropImpliedInLine(block);
  int64_t round = 2 * static_cast<int64_t>(block.ops.size()) + 2;
  // Long orders first: they are the ones that shorter ones imply.
  auto length = [&](const Order &order) { return 2 * order.wait - (2 * order.set + 1) + (order.again ? round : 0); };
  auto key = [](const Order &order) {
    return std::tuple(order.again, order.set, order.wait, order.src, order.dst, order.byTurn);
  };
  llvm::sort(orders, [&](const Order &a, const Order &b) {
    return std::pair(-length(a), key(a)) < std::pair(-length(b), key(b));
  });
  std::vector<bool> alive(orders.size(), true);
  for (size_t i = 0; i < orders.size(); ++i) {
    bool implied = isImplied(orders, alive, i, round, /*turnStep=*/false);
    if (!implied && orders[i].again && orders[i].byTurn)
      implied = isImplied(orders, alive, i, round, /*turnStep=*/true);
    if (implied)
      alive[i] = false;
  }
  std::vector<Order> kept;
  for (size_t i = 0; i < orders.size(); ++i)
    if (alive[i])
      kept.push_back(orders[i]);
  llvm::sort(kept, [&](const Order &a, const Order &b) { return key(a) < key(b); });
  orders = std::move(kept);
}

void pto_mlir::pto::joinOrders(BlockOrders &block, Pipe src, Pipe dst) {
  std::vector<Order> joined, rest;
  for (const Order &order : block.orders) {
    if (order.src != src || order.dst != dst) {
      rest.push_back(order);
      continue;
    }
    bool done = false;
    for (Order &other : joined) {
      if (other.again != order.again || other.byTurn != order.byTurn)
        continue;
      int set = std::max(other.set, order.set), wait = std::min(other.wait, order.wait);
      if (!order.again && set >= wait)
        continue;
      other.set = set;
      other.wait = wait;
      done = true;
      break;
    }
    if (!done)
      joined.push_back(order);
  }
  rest.insert(rest.end(), joined.begin(), joined.end());
  block.orders = std::move(rest);
}

void pto_mlir::pto::replaceByMeetings(BlockOrders &block, Pipe a, Pipe b) {
  std::vector<Order> replaced, rest;
  for (const Order &order : block.orders) {
    bool between = (order.src == a && order.dst == b) || (order.src == b && order.dst == a);
    (between ? replaced : rest).push_back(order);
  }
  // A meeting before op x serves an order of one execution when set < x <= wait, and one to the next execution when x
  // is not between wait and set. Earliest deadline first.
  llvm::sort(replaced, [](const Order &x, const Order &y) {
    return std::tuple(x.again, x.wait, x.set) < std::tuple(y.again, y.wait, y.set);
  });
  auto serves = [](const Order &order, int at) {
    return order.again ? at <= order.wait || at > order.set : order.set < at && at <= order.wait;
  };
  std::vector<int> places;
  for (const Order &order : replaced)
    if (llvm::none_of(places, [&](int at) { return serves(order, at); }))
      places.push_back(order.wait);
  for (int at : places)
    if (llvm::none_of(block.meetings, [&](const Meeting &meeting) {
          return meeting.at == at && meeting.a == std::min(a, b) && meeting.b == std::max(a, b);
        }))
      block.meetings.push_back({std::min(a, b), std::max(a, b), at});
  block.orders = std::move(rest);
}
