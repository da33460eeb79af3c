#include "Checked/TaskRaces.h"

#include <algorithm>

namespace pto_mlir::cmodel {

void TaskRaces::next(uint32_t number, std::span<const uint32_t> list) {
  task = number;
  others.assign(list.begin(), list.end());
  if (task == 0)
    launches.clear();
}

void TaskRaces::launchBegin(const std::string &kernel) {
  foreign.clear();
  current = nullptr;
  if (task == 0)
    return;
  for (uint32_t other : others)
    for (auto [at, end] = launches.equal_range(other); at != end; ++at)
      for (const Range &range : at->second.ranges)
        foreign.push_back({range.begin, range.end, 0, &at->second, range.place});
  std::sort(foreign.begin(), foreign.end(), [](const Foreign &a, const Foreign &b) { return a.begin < b.begin; });
  uint64_t greatest = 0;
  for (Foreign &range : foreign)
    range.greatestEnd = greatest = std::max(greatest, range.end);
  current = &launches.emplace(task, Launch{task, kernel, {}, {}})->second;
}

void TaskRaces::note(uint64_t begin, uint64_t end, Place place) {
  std::vector<Place> &places = current->places;
  std::vector<Range> &ranges = current->ranges;
  auto found = std::find(places.rbegin(), places.rend(), place);
  auto number = uint32_t(found == places.rend() ? places.size() : size_t(places.rend() - found) - 1);
  if (found == places.rend())
    places.push_back(std::move(place));
  if (!ranges.empty() && ranges.back().place == number && ranges.back().end == begin)
    ranges.back().end = end;
  else
    ranges.push_back({begin, end, number});
}

std::optional<std::string> TaskRaces::access(uint64_t begin, uint64_t length, AccessKind kind,
                                             const std::string &engine, uint32_t word) {
  uint64_t end = begin + length;
  auto at = std::lower_bound(foreign.begin(), foreign.end(), end,
                             [](const Foreign &range, uint64_t value) { return range.begin < value; });
  while (at != foreign.begin() && (--at)->greatestEnd > begin) {
    const Place &place = at->launch->places[at->place];
    bool bothAdd = isAddition(place.kind) && isAddition(kind);
    if (at->end <= begin || bothAdd || (!isWrite(kind) && !isWrite(place.kind)))
      continue;
    return "task #" + std::to_string(at->launch->task) + (isWrite(place.kind) ? " writes" : " reads") + " (kernel '" +
           at->launch->kernel + "', " + place.engine + " word " + std::to_string(place.word) + ")";
  }
  note(begin, end, {engine, word, kind});
  return std::nullopt;
}

} // namespace pto_mlir::cmodel
