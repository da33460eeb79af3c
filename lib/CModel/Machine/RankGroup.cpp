#include "Machine/RankGroup.h"

#include "Machine/Program.h"

#include <algorithm>

namespace pto_mlir::cmodel {

RankGroup::RankGroup(isa::Arch arch, std::span<const RankLaunch> launches, Observer *observer, RankWatch watch)
    : counters(launches.size()), launches(launches), observer(observer), watch(std::move(watch)),
      ended(launches.size()) {
  for (size_t i = 0; i < launches.size(); ++i) {
    auto found =
        std::find_if(ranks.begin(), ranks.end(), [&](const Rank &rank) { return rank.number == launches[i].rank; });
    if (found == ranks.end()) {
      ranks.push_back({launches[i].rank, {}, 0, false, std::make_unique<CoreGroup>(arch, observer)});
      found = std::prev(ranks.end());
    }
    found->launches.push_back(i);
  }
  std::sort(ranks.begin(), ranks.end(), [](const Rank &a, const Rank &b) { return a.number < b.number; });
}

bool RankGroup::mayBegin(size_t launch) const {
  return std::all_of(launches[launch].after.begin(), launches[launch].after.end(),
                     [&](uint32_t other) { return ended[other]; });
}

RankGroup::Turn RankGroup::run(Rank &rank) {
  size_t launch = rank.launches[rank.next];
  if (!rank.isRunning && !mayBegin(launch))
    return Turn::Blocked;
  if (!rank.isRunning && watch)
    watch(launch, false);
  if (observer)
    observer->rankTurn(launch);
  if (!rank.isRunning)
    rank.cores->begin(launches[launch].state, 0, launches[launch].state.blocks);
  bool moved = !rank.isRunning;
  rank.isRunning = true;
  Core::Progress progress = rank.cores->advance();
  for (; progress == Core::Progress::Moved; progress = rank.cores->advance())
    moved = true;
  if (progress == Core::Progress::Stuck)
    return moved ? Turn::Moved : Turn::Blocked;
  pending = rank.cores->takeFault();
  if (!pending)
    pending = rank.cores->end();
  counters[launch] = rank.cores->counters;
  if (pending) {
    pending->message = "rank " + std::to_string(rank.number) + ": " + pending->message;
    faulted = launch;
    return Turn::Faulted;
  }
  if (observer)
    observer->rankLaunchEnd(launch);
  if (watch)
    watch(launch, true);
  ended[launch] = true;
  rank.isRunning = false;
  ++rank.next;
  return Turn::Moved;
}

std::optional<Fault> RankGroup::run() {
  std::vector<Rank *> order(ranks.size());
  std::transform(ranks.begin(), ranks.end(), order.begin(), [](Rank &rank) { return &rank; });
  auto next = [](const Rank *rank) { return rank->hasEnded() ? SIZE_MAX : rank->launches[rank->next]; };
  for (bool moved = true; moved;) {
    moved = false;
    // The earliest launch first: what no signal orders happens in the order of the program.
    std::sort(order.begin(), order.end(), [&](const Rank *a, const Rank *b) { return next(a) < next(b); });
    for (size_t i = 0; !moved && i < order.size() && !order[i]->hasEnded(); ++i) {
      Turn turn = run(*order[i]);
      if (turn == Turn::Faulted)
        return std::move(pending);
      moved = turn == Turn::Moved;
    }
  }
  if (std::all_of(ranks.begin(), ranks.end(), [](const Rank &rank) { return rank.hasEnded(); }))
    return std::nullopt;
  return deadlock();
}

/// What a device waits for.
std::string RankGroup::describe(Rank &rank) const {
  std::string text = "rank " + std::to_string(rank.number);
  if (rank.hasEnded())
    return text + " has ended";
  const RankLaunch &launch = launches[rank.launches[rank.next]];
  text += " in kernel '" + launch.state.kernel->name + "'";
  if (rank.isRunning)
    return text + ": " + rank.cores->describeWaits();
  auto other = std::find_if(launch.after.begin(), launch.after.end(), [&](uint32_t each) { return !ended[each]; });
  return text + " waits for rank " + std::to_string(launches[*other].rank) + " to end kernel '" +
         launches[*other].state.kernel->name + "'";
}

/// Nobody can go on: a device that runs and is blocked, and what the others do.
Fault RankGroup::deadlock() {
  auto blocked = std::find_if(ranks.begin(), ranks.end(), [](const Rank &rank) { return rank.isRunning; });
  faulted = blocked->launches[blocked->next];
  std::string message = describe(*blocked) + "; another rank would have to write it, but none can:";
  const char *separator = " ";
  for (Rank &rank : ranks)
    if (&rank != &*blocked) {
      message += separator + describe(rank);
      separator = "; ";
    }
  if (ranks.size() == 1)
    message += " there is no other";
  return blocked->cores->faultOfBlocked(std::move(message));
}

} // namespace pto_mlir::cmodel
