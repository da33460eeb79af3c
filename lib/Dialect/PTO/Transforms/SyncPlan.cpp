//===- SyncPlan.cpp - where flags of a kernel stand, and whether they are enough -------===//

#include "SyncPlan.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace pto_mlir::pto;

SyncPlan::SyncPlan(OrdersByBlock &blocks) {
  struct Shared {
    size_t leader;
    llvm::SmallSetVector<Operation *, 4> outermost; // loops of those for next executions
  };
  llvm::MapVector<int, Shared> shares;
  for (auto &entry : blocks) {
    BlockOrders &block = entry.second;
    for (size_t i = 0; i < block.orders.size(); ++i) {
      const Order &order = block.orders[i];
      gaps[block.ops[order.set]].sets.push_back(signals.size());
      gaps[block.ops[order.wait]].waits.push_back(signals.size());
      // Unshared orders have numbers of their own, below kUnshared.
      int number = order.share == kUnshared ? kUnshared - 1 - int(signals.size()) : order.share;
      Shared &shared = shares.insert({number, {signals.size(), {}}}).first->second;
      if (order.again)
        shared.outermost.insert(block.outermost);
      signals.push_back({&block, i, false, shared.leader});
    }
    for (size_t i = 0; i < block.meetings.size(); ++i) {
      gaps[block.ops[block.meetings[i].at]].meetings.push_back(signals.size());
      signals.push_back({&block, i, true, signals.size()});
    }
  }
  for (auto &[_, shared] : shares) {
    auto &loops = shared.outermost;
    if (loops.empty())
      continue;
    // One token for loops of one block, from the first to the last of them; else one for each loop.
    bool inOneBlock = llvm::all_of(loops, [&](Operation *loop) { return loop->getBlock() == loops[0]->getBlock(); });
    auto before = [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); };
    if (!inOneBlock) {
      for (Operation *loop : loops) {
        gaps[loop].firstSets.push_back(shared.leader);
        gaps[loop].lastWaits.push_back(shared.leader);
      }
      continue;
    }
    gaps[*llvm::min_element(loops, before)].firstSets.push_back(shared.leader);
    gaps[*llvm::max_element(loops, before)].lastWaits.push_back(shared.leader);
  }
}

//===- the kernel as the proof walks it ------------------------------------------------===//
//
// exec   a: engine, b: op (index)           set, wait  a: signal, b: turn (0, 1), or 2: that of the trip
// meet   a: signal                          branch     body, other
// loop   a: place in parityLoops or kNoParity, trips

static constexpr size_t kNoParity = ~size_t(0);

SyncProof::SyncProof(func::FuncOp func, const std::vector<EngineOp> &ops, const SyncConflicts &conflicts,
                     const SyncPlan &plan)
    : ops(ops), conflicts(conflicts), plan(plan) {
  bool cube = false, vector = false;
  for (size_t i = 0; i < ops.size(); ++i) {
    opNumbers[ops[i].op] = i;
    cube |= ops[i].section == Section::cube;
    vector |= ops[i].section == Section::vector;
    for (scf::ForOp loop : ops[i].turns)
      parityOf(loop);
  }
  for (const Signal &signal : plan.signals) {
    bool leads = signal.leader == firstToken.size();
    firstToken.push_back(leads ? numTokens : firstToken[signal.leader]);
    if (signal.isMeeting)
      continue;
    if (signal.order().byTurn)
      parityOf(signal.block->loop);
    if (leads)
      numTokens += signal.order().byTurn ? 2 : 1;
  }
  for (Section section : {Section::cube, Section::vector})
    if ((section == Section::cube && (cube || !vector)) || (section == Section::vector && vector))
      addBlock(func.getBody().front(), section, kernels.emplace_back());
  parity.assign(parityLoops.size(), 0);
}

size_t SyncProof::engineOf(Pipe pipe) {
  auto found = llvm::find(engines, pipe);
  if (found != engines.end())
    return found - engines.begin();
  engines.push_back(pipe);
  return engines.size() - 1;
}

size_t SyncProof::parityOf(Operation *loop) {
  auto found = llvm::find(parityLoops, loop);
  if (found != parityLoops.end())
    return found - parityLoops.begin();
  parityLoops.push_back(loop);
  return parityLoops.size() - 1;
}

void SyncProof::addSignal(Node::Kind kind, size_t signal, bool allTurns, std::vector<Node> &nodes) {
  const Order &order = plan.signals[signal].order();
  engineOf(order.src);
  engineOf(order.dst);
  if (!order.byTurn || allTurns) {
    for (size_t turn = 0; turn < (order.byTurn ? 2 : 1); ++turn)
      nodes.push_back({kind, signal, turn});
    return;
  }
  nodes.push_back({kind, signal, 2});
}

void SyncProof::addBlock(Block &block, Section section, std::vector<Node> &nodes) {
  for (Operation &op : block) {
    auto gap = plan.gaps.find(&op);
    if (gap != plan.gaps.end()) {
      for (size_t signal : gap->second.meetings) {
        engineOf(plan.signals[signal].meeting().a);
        engineOf(plan.signals[signal].meeting().b);
        nodes.push_back({Node::meet, signal});
      }
      for (size_t signal : gap->second.waits)
        addSignal(Node::wait, signal, false, nodes);
      for (size_t signal : gap->second.firstSets)
        addSignal(Node::set, signal, true, nodes);
    }
    if (auto number = opNumbers.find(&op); number != opNumbers.end()) {
      Node node{Node::exec, engineOf(ops[number->second].pipe), number->second};
      for (scf::ForOp loop : ops[number->second].turns)
        node.parities.push_back(parityOf(loop));
      nodes.push_back(std::move(node));
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      auto found = llvm::find(parityLoops, loop.getOperation());
      Node node{Node::loop, found == parityLoops.end() ? kNoParity : size_t(found - parityLoops.begin())};
      node.trips = getTripBounds(loop);
      addBlock(*loop.getBody(), section, node.body);
      if (!node.body.empty())
        nodes.push_back(std::move(node));
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Node node{Node::branch};
      addBlock(*branch.thenBlock(), section, node.body);
      if (branch.elseBlock())
        addBlock(*branch.elseBlock(), section, node.other);
      if (!node.body.empty() || !node.other.empty())
        nodes.push_back(std::move(node));
    } else if ((llvm::isa<SectionCubeOp>(op) && section == Section::cube) ||
               (llvm::isa<SectionVectorOp>(op) && section == Section::vector)) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          addBlock(inner, section, nodes);
    }
    if (gap != plan.gaps.end()) {
      for (size_t signal : gap->second.lastWaits)
        addSignal(Node::wait, signal, true, nodes);
      for (size_t signal : gap->second.sets)
        addSignal(Node::set, signal, false, nodes);
    }
  }
}

//===- the walk --------------------------------------------------------------------===//
//
// Items are those of the conflicts, then the wait of each token. Rows of the state: engines, then tokens.

void SyncProof::State::join(const State &from) {
  for (size_t r = 0; r < raised.size(); ++r)
    unknown.add(r, from.unknown.row(r));
}

/// After this execution only the engine itself can assume that the item has ended; flags raised earlier do not imply
/// it.
void SyncProof::execute(size_t item, size_t engine, State &state) {
  uint64_t bit = uint64_t(1) << item % 64;
  size_t word = item / 64, words = state.unknown.wordsPerRow();
  uint64_t *at = state.unknown.row(0) + word;
  for (size_t r = 0; r < state.raised.size(); ++r, at += words)
    if (state.raised[r])
      *at |= bit;
  state.unknown.row(engine)[word] &= ~bit;
  work += state.raised.size() / 8 + 1;
}

/// `engine` may assume all that row `from` may.
void SyncProof::learn(size_t engine, size_t from, State &state) {
  uint64_t *to = state.unknown.row(engine);
  const uint64_t *news = state.unknown.row(from);
  for (size_t w = 0; w < state.unknown.wordsPerRow(); ++w)
    to[w] &= news[w];
  work += state.unknown.wordsPerRow();
}

bool SyncProof::raise(size_t token, size_t src, State &state) {
  size_t row = engines.size() + token;
  if (state.raised[row] || state.unknown.test(src, conflicts.numItems() + token))
    return false; // the last token is not taken, or may not be
  std::copy_n(state.unknown.row(src), state.unknown.wordsPerRow(), state.unknown.row(row));
  state.raised[row] = true;
  work += state.unknown.wordsPerRow();
  return true;
}

bool SyncProof::run(const std::vector<Node> &nodes, State &state) {
  for (const Node &node : nodes) {
    switch (node.kind) {
    case Node::exec: {
      const EngineOp &op = ops[node.b];
      size_t item = op.firstItem;
      for (size_t k = 0; k < node.parities.size(); ++k)
        item += size_t(parity[node.parities[k]]) << k;
      work += state.unknown.wordsPerRow();
      if (conflicts.anyOf(node.b, item, state.unknown.row(node.a)))
        return false;
      execute(item, node.a, state);
      break;
    }
    case Node::set:
    case Node::wait: {
      if (!(*alive)[node.a])
        break;
      const Signal &signal = plan.signals[node.a];
      const Order &order = signal.order();
      size_t token = firstToken[node.a] + (node.b < 2 ? node.b : parity[parityOf(signal.block->loop)]);
      if (node.kind == Node::set) {
        if (!raise(token, engineOf(order.src), state))
          return false;
        break;
      }
      if (!state.raised[engines.size() + token])
        return false; // nobody would raise it
      learn(engineOf(order.dst), engines.size() + token, state);
      state.raised[engines.size() + token] = false;
      execute(conflicts.numItems() + token, engineOf(order.dst), state);
      break;
    }
    case Node::meet: {
      if (!(*alive)[node.a])
        break;
      size_t a = engineOf(plan.signals[node.a].meeting().a), b = engineOf(plan.signals[node.a].meeting().b);
      learn(a, b, state);
      learn(b, a, state);
      break;
    }
    case Node::branch: {
      State other = state;
      if (!run(node.body, state) || !run(node.other, other))
        return false;
      state.join(other);
      break;
    }
    case Node::loop:
      if (!runLoop(node, state))
        return false;
    }
  }
  return true;
}

bool SyncProof::runLoop(const Node &node, State &state) {
  auto [least, most] = node.trips;
  bool byTurn = node.a != kNoParity;
  constexpr int64_t kFew = 4;
  constexpr uint64_t kMostTrips = 4096; // of all loops around that are walked trip by trip; nests double with each loop
  walked += state.unknown.wordsPerRow() * state.raised.size();
  if (walked > kMostWalked)
    return false;
  if (most <= kFew && trips * uint64_t(most) <= kMostTrips) { // trip by trip
    uint64_t outside = std::exchange(trips, trips * std::max<uint64_t>(uint64_t(most), 1));
    auto leave = llvm::make_scope_exit([&] { trips = outside; });
    State end;
    for (int64_t trip = 0;; ++trip) {
      if (trip == least)
        end = state;
      else if (trip > least)
        end.join(state);
      if (trip == most)
        break;
      if (byTurn)
        parity[node.a] = trip % 2;
      if (!run(node.body, state))
        return false;
    }
    state = std::move(end);
    return true;
  }
  if (byTurn)
    parity[node.a] = 0;
  State head = state; // before a trip; with turns, before an even one
  while (true) {
    State even = head, odd;
    if (!run(node.body, even))
      return false;
    if (byTurn) {
      odd = even;
      parity[node.a] = 1;
      if (!run(node.body, odd))
        return false;
      parity[node.a] = 0;
    }
    State next = head;
    next.join(byTurn ? odd : even);
    work += next.unknown.wordsPerRow() * next.raised.size();
    if (!(next.unknown == head.unknown)) {
      head = std::move(next);
      continue;
    }
    if (least == 0)
      even.join(state);
    if (byTurn && least != most) // either half may have been the last
      even.join(head);
    state = byTurn && least == most && most % 2 == 0 ? std::move(odd) : std::move(even);
    return true;
  }
}

bool SyncProof::holds(const std::vector<bool> &chosen) {
  alive = &chosen;
  walked = 0;
  for (const std::vector<Node> &kernel : kernels) {
    State state{BitRows(engines.size() + numTokens, conflicts.numItems() + numTokens),
                std::vector<bool>(engines.size() + numTokens)};
    std::fill_n(state.raised.begin(), engines.size(), true); // what engines know is always of use
    if (!run(kernel, state))
      return false;
  }
  return true;
}
