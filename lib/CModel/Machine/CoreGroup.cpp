#include "Machine/CoreGroup.h"

#include "Machine/Observer.h"
#include "Machine/Program.h"

namespace pto_mlir::cmodel {

std::vector<CorePlace> placesOf(isa::Arch arch, const LaunchState &launch, uint32_t first, uint32_t blocks) {
  std::vector<CorePlace> places;
  for (uint32_t block = first; block < first + blocks; ++block) {
    // A core whose memory others write takes part even without commands of its own.
    if (launch.kernel->uses(isa::CoreKind::AIC) || launch.kernel->writesPeers)
      places.push_back({isa::CoreKind::AIC, block, 0});
    if (launch.kernel->uses(isa::CoreKind::AIV) || launch.kernel->writesPeers)
      for (uint32_t subblock = 0; subblock < isa::archInfo(arch).vectorCores; ++subblock)
        places.push_back({isa::CoreKind::AIV, block, subblock});
  }
  return places;
}

void CoreGroup::begin(const LaunchState &launch, uint32_t first, uint32_t blocks) {
  std::vector<CorePlace> places = placesOf(arch, launch, first, blocks);
  count = places.size();
  counters = {};
  pending.reset();
  flags.reset(places);
  if (observer)
    observer->groupBegin(places);
  for (size_t i = 0; i < count; ++i) {
    if (i >= cores.size())
      cores.push_back(std::make_unique<Core>(arch, observer));
    cores[i]->begin(launch, places[i], &flags, i);
  }
  for (size_t i = 0; i < count; ++i)
    cores[i]->setGroup(std::span(cores).first(count));
}

Core::Progress CoreGroup::advance() {
  bool moved = false, alive = false;
  for (size_t i = 0; i < count; ++i) {
    Core::Progress now = cores[i]->advance();
    moved |= now == Core::Progress::Moved;
    while (now == Core::Progress::Moved)
      now = cores[i]->advance();
    alive |= now == Core::Progress::Stuck;
    if (cores[i]->faulted()) {
      pending = cores[i]->takeFault();
      return Core::Progress::Ended;
    }
  }
  return !alive ? Core::Progress::Ended : moved ? Core::Progress::Moved : Core::Progress::Stuck;
}

std::optional<Fault> CoreGroup::end() {
  std::optional<Fault> fault = leftover();
  for (size_t i = 0; i < count && !fault; ++i)
    fault = cores[i]->end();
  for (size_t i = 0; i < count; ++i)
    counters += cores[i]->takeCounters();
  return fault;
}

std::optional<Fault> CoreGroup::run(const LaunchState &launch, uint32_t first, uint32_t blocks) {
  begin(launch, first, blocks);
  Core::Progress progress = Core::Progress::Moved;
  while (progress == Core::Progress::Moved)
    progress = advance();
  if (!pending && progress == Core::Progress::Stuck)
    pending = faultOfBlocked(describeWaits());
  if (!pending)
    return end();
  for (size_t i = 0; i < count; ++i)
    counters += cores[i]->takeCounters();
  return takeFault();
}

/// Every blocked engine and what it waits for.
std::string CoreGroup::describeWaits() {
  std::string message;
  auto nameOf = [&](size_t core) { return cores[core]->name(); };
  for (size_t i = 0; i < count; ++i)
    if (std::string waits = cores[i]->describeWaits(nameOf); !waits.empty())
      message += (message.empty() ? "" : "; ") + cores[i]->name() + ": " + waits;
  return message;
}

Fault CoreGroup::faultOfBlocked(std::string message) {
  auto nameOf = [&](size_t core) { return cores[core]->name(); };
  size_t first = 0;
  while (first + 1 < count && cores[first]->describeWaits(nameOf).empty())
    ++first;
  cores[first]->fault(FaultKind::Deadlock, std::move(message));
  return *cores[first]->takeFault();
}

std::optional<Fault> CoreGroup::leftover() {
  auto left = flags.leftover();
  if (!left)
    return std::nullopt;
  std::string message = "cross-core flag " + std::to_string(left->id);
  if (left->missing.empty()) {
    message += " of " + cores[left->core]->name() + " is still raised at the end of the kernel";
  } else {
    message += " was raised by " + cores[left->core]->name() + " once more than by ";
    for (size_t i = 0; i < left->missing.size() && i < 3; ++i)
      message += (i ? ", " : "") + cores[left->missing[i]]->name();
    message += left->missing.size() > 3 ? ", ..." : "";
  }
  cores[left->core]->fault(FaultKind::Flag, message);
  return cores[left->core]->takeFault();
}

} // namespace pto_mlir::cmodel
