// When the launches of several devices do what they have to do.
#include "PlaybackGroup.h"

#include <memory>

namespace pto_mlir::cost {
namespace {

bool exchangesSignals(const RankLog &launch) {
  auto isCell = [](const Event &event) { return event.kind == Event::CellNotify || event.kind == Event::CellAwait; };
  return std::any_of(launch.cores.begin(), launch.cores.end(), [&](const CoreLog &core) {
    return std::any_of(core.engines.begin(), core.engines.end(), [&](const EngineLog &engine) {
      return std::any_of(engine.events.begin(), engine.events.end(), isCell);
    });
  });
}

class Ranks {
public:
  Ranks(const ChipInfo &chip, std::span<const RankLog> launches, double begin, const RankSpans &spans)
      : chip(chip), launches(launches), spans(spans), results(launches.size()), ended(launches.size()) {
    for (size_t i = 0; i < launches.size(); ++i) {
      auto found =
          std::find_if(ranks.begin(), ranks.end(), [&](const Rank &rank) { return rank.number == launches[i].rank; });
      if (found == ranks.end()) {
        ranks.push_back({launches[i].rank, begin, {}, 0, nullptr, {}});
        found = std::prev(ranks.end());
      }
      found->launches.push_back(i);
    }
  }

  std::vector<RankPlayback> run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (Rank &rank : ranks)
        while (rank.next < rank.launches.size() && advance(rank))
          moved = true;
    }
    return std::move(results);
  }

private:
  struct Rank {
    uint32_t number;
    double free; // when its last launch has ended
    std::vector<size_t> launches;
    size_t next;
    std::unique_ptr<Group> group; // of a launch that has begun
    Span span;
  };

  bool advance(Rank &rank) {
    size_t number = rank.launches[rank.next];
    const RankLog &launch = launches[number];
    RankPlayback &result = results[number];
    if (rank.group) {
      bool moved = rank.group->advance();
      if (!rank.group->hasEnded())
        return moved;
      double time = gather(chip, launch.cores, rank.group->run(), workBegin(result), result.work);
      averageOverCores(chip, launch.cores, result.work);
      end(rank, time);
      return true;
    }
    if (!std::all_of(launch.after.begin(), launch.after.end(), [&](uint32_t other) { return ended[other]; }))
      return false;
    result.begin = rank.free;
    for (uint32_t other : launch.after)
      result.begin = std::max(result.begin, results[other].work.end);
    rank.span = spans ? spans(number) : Span();
    double start = workBegin(result);
    if (exchangesSignals(launch)) {
      Rates rates = settledRates(chip, launch.cores, Tied::Launch, launch.hbm, start);
      rank.group = std::make_unique<Group>(chip, launch.cores, 0, rates, start, rank.span, &cells);
    } else {
      result.work = play(chip, launch.cores, launch.tied, launch.hbm, start, rank.span);
      end(rank, result.work.end);
    }
    return true;
  }

  double workBegin(const RankPlayback &result) const { return result.begin + chip.launchSeconds * chip.clock; }

  void end(Rank &rank, double time) {
    size_t number = rank.launches[rank.next++];
    results[number].work.end = rank.free = time;
    ended[number] = true;
    rank.group.reset();
  }

  const ChipInfo &chip;
  std::span<const RankLog> launches;
  const RankSpans &spans;
  std::vector<RankPlayback> results;
  std::vector<bool> ended;
  std::vector<Rank> ranks;
  CellTimes cells;
};

} // namespace

std::vector<RankPlayback> playRanks(const ChipInfo &chip, std::span<const RankLog> launches, double begin,
                                    const RankSpans &spans) {
  return Ranks(chip, launches, begin, spans).run();
}

} // namespace pto_mlir::cost
