// The checked mode of a run of several devices: their cores are one group, whose clocks go on from launch to launch.
#include "Checked/Checker.h"
#include "Machine/CoreGroup.h"
#include "Machine/RankGroup.h"

#include <algorithm>

namespace pto_mlir::cmodel {

std::string Checker::ranksBegin(std::span<const RankLaunch> launches) {
  constexpr size_t mostCores = 2048; // a clock of each engine holds a number for each engine
  std::vector<Argument> arguments;
  std::map<uint32_t, size_t> coresOf;
  std::vector<bool> isAwaited(launches.size());
  for (const RankLaunch &launch : launches) {
    size_t &count = coresOf[launch.rank];
    count = std::max(count, placesOf(arch, launch.state, 0, launch.state.blocks).size());
    for (uint32_t other : launch.after)
      isAwaited[other] = true;
    addArguments(launch.state, arguments);
  }
  size_t count = 0;
  std::map<uint32_t, size_t> first;
  for (auto [rank, cores] : coresOf) {
    first[rank] = count;
    count += cores;
  }
  if (count > mostCores)
    return "the checked mode takes programs of at most " + std::to_string(mostCores) + " cores, and its ranks have " +
           std::to_string(count);
  groupSize = count;
  firstEngine = 0;
  states.resize(std::max(states.size(), groupSize));
  cores.assign(groupSize, {});
  ranks = std::vector<Rank>(coresOf.size());
  Clock none(groupSize * maxEngines, 0);
  for (size_t i = 0; auto [rank, firstOf] : first)
    ranks[i++] = {rank, firstOf, 0, none, {}};
  for (size_t i = 0; i < launches.size(); ++i) {
    auto rank = std::find_if(ranks.begin(), ranks.end(), [&](const Rank &r) { return r.number == launches[i].rank; });
    rankLaunches.push_back({size_t(rank - ranks.begin()), launches[i].after, isAwaited[i], {}});
  }
  signals.clear();
  makeRegions(std::move(arguments));
  return "";
}

void Checker::rankTurn(size_t launch) {
  current = launch;
  firstCore = ranks[rankLaunches[launch].rank].firstCore;
}

void Checker::rankGroupBegin(const std::vector<CorePlace> &places) {
  Rank &rank = ranks[rankLaunches[current].rank];
  rank.numCores = places.size();
  rank.crossFlags.reset(places);
  for (uint32_t other : rankLaunches[current].after)
    join(rank.known, rankLaunches[other].end);
  groupKnows = rank.known;
}

void Checker::rankLaunchEnd(size_t launch) {
  Rank &rank = ranks[rankLaunches[launch].rank];
  for (size_t core = rank.firstCore; core < rank.firstCore + rank.numCores; ++core)
    for (const Clock &each : states[core].clocks)
      join(rank.known, each);
  if (rankLaunches[launch].isAwaited)
    rankLaunches[launch].end = rank.known;
}

void Checker::ranksEnd(std::span<pto_profile>) {
  ranks.clear();
  rankLaunches.clear();
  firstCore = 0;
  unwritten.clear();
  regions.clear();
  cores.clear();
}

CrossFlags<Clock> &Checker::crossFlagsOfGroup() {
  return ranks.empty() ? crossFlags : ranks[rankLaunches[current].rank].crossFlags;
}

std::string Checker::launchOf(const Event &event) const {
  if (ranks.empty())
    return "";
  auto rankOf = [&](size_t core) {
    return *std::find_if(ranks.rbegin(), ranks.rend(), [&](const Rank &rank) { return rank.firstCore <= core; });
  };
  uint32_t rank = rankOf(event.core()).number;
  if (rank == ranks[rankLaunches[current].rank].number)
    return "";
  return "rank " + std::to_string(rank) + ", kernel '" + cores[event.core()].stayOf(event).kernel->name + "', ";
}

} // namespace pto_mlir::cmodel
