#include "Machine/CoreGroup.h"

#include "Machine/Observer.h"
#include "Machine/Program.h"

namespace pto_mlir::cmodel {

std::optional<Fault> CoreGroup::run(const LaunchState &launch, uint32_t first, uint32_t blocks) {
  std::vector<CorePlace> places;
  for (uint32_t block = first; block < first + blocks; ++block) {
    // A core whose memory others write takes part even without commands of its own.
    if (launch.kernel->uses(isa::CoreKind::AIC) || launch.kernel->writesPeers)
      places.push_back({isa::CoreKind::AIC, block, 0});
    if (launch.kernel->uses(isa::CoreKind::AIV) || launch.kernel->writesPeers)
      for (uint32_t subblock = 0; subblock < isa::archInfo(arch).vectorCores; ++subblock)
        places.push_back({isa::CoreKind::AIV, block, subblock});
  }
  size_t count = places.size();
  counters = {};
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

  std::optional<Fault> fault;
  for (bool progress = true; progress && !fault;) {
    progress = false;
    bool alive = false;
    for (size_t i = 0; i < count && !fault; ++i) {
      Core::Progress now = cores[i]->advance();
      progress |= now == Core::Progress::Moved;
      while (now == Core::Progress::Moved)
        now = cores[i]->advance();
      alive |= now == Core::Progress::Stuck;
      if (cores[i]->faulted())
        fault = cores[i]->takeFault();
    }
    if (!alive)
      break;
    if (!progress && !fault)
      fault = deadlock(count);
  }
  if (!fault)
    fault = leftover(count);
  for (size_t i = 0; i < count && !fault; ++i)
    fault = cores[i]->end();
  for (size_t i = 0; i < count; ++i)
    counters += cores[i]->takeCounters();
  return fault;
}

/// A deadlock fault that lists every blocked engine and what it waits for.
std::optional<Fault> CoreGroup::deadlock(size_t count) {
  std::string message;
  Core *first = nullptr;
  auto nameOf = [&](size_t core) { return cores[core]->name(); };
  for (size_t i = 0; i < count; ++i) {
    std::string waits = cores[i]->describeWaits(nameOf);
    if (waits.empty())
      continue;
    message += (first ? "; " : "") + cores[i]->name() + ": " + waits;
    if (!first)
      first = cores[i].get();
  }
  first->fault(FaultKind::Deadlock, message);
  return first->takeFault();
}

std::optional<Fault> CoreGroup::leftover(size_t count) {
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
  (void)count;
  cores[left->core]->fault(FaultKind::Flag, message);
  return cores[left->core]->takeFault();
}

} // namespace pto_mlir::cmodel
