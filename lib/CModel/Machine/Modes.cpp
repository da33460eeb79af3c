#include "Machine/Modes.h"

#include "Checked/Checker.h"
#include "Tiles/Shuffler.h"
#include "Timing/Timer.h"

#include <charconv>

namespace pto_mlir::cmodel {

std::optional<std::unique_ptr<Observer>> makeObserver(std::string_view mode, isa::Arch arch) {
  if (mode == "functional")
    return std::unique_ptr<Observer>();
  if (mode == "checked")
    return std::make_unique<Checker>(arch);
  if (mode == "timing")
    return std::make_unique<Timer>(arch, nullptr);
  constexpr std::string_view timing = "timing:";
  if (mode.substr(0, timing.size()) == timing) {
    auto trace = Trace::create(std::string(mode.substr(timing.size())));
    if (!trace)
      return std::nullopt;
    return std::make_unique<Timer>(arch, std::move(trace));
  }
  constexpr std::string_view shuffled = "shuffled";
  if (mode.substr(0, shuffled.size()) == shuffled) {
    std::string_view rest = mode.substr(shuffled.size());
    uint32_t seed = 1;
    if (!rest.empty()) {
      auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), seed);
      if (rest[0] != ':' || error != std::errc() || end != rest.data() + rest.size())
        return std::nullopt;
    }
    return std::make_unique<Shuffler>(seed);
  }
  return std::nullopt;
}

std::string modeNames() {
  return "functional, checked, timing, timing:TRACE (a file that can be written) and shuffled:SEED";
}

} // namespace pto_mlir::cmodel
