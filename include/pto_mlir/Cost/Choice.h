//===- Choice.h - which of several candidates to build ----------*- C++ -*-===//

#ifndef PTO_MLIR_COST_CHOICE_H
#define PTO_MLIR_COST_CHOICE_H

#include <algorithm>
#include <iterator>

namespace pto_mlir::cost {

/// Estimates up to this ratio to the least one count as equal: they are less exact than that (docs/timing.md).
inline constexpr double kEqual = 1.01;

/// The candidate that moves the fewest bytes among those of nearly the least cost; the first one of equals. `all` must
/// not be empty.
template <typename Candidates, typename CostOf, typename BytesOf>
auto fewestBytes(Candidates &&all, CostOf costOf, BytesOf bytesOf) {
  auto byCost = [&](const auto &a, const auto &b) { return costOf(a) < costOf(b); };
  double limit = kEqual * costOf(*std::min_element(std::begin(all), std::end(all), byCost));
  auto best = std::end(all);
  for (auto it = std::begin(all); it != std::end(all); ++it)
    if (costOf(*it) <= limit && (best == std::end(all) || bytesOf(*it) < bytesOf(*best) ||
                                 (bytesOf(*it) == bytesOf(*best) && byCost(*it, *best))))
      best = it;
  return best;
}

} // namespace pto_mlir::cost

#endif
