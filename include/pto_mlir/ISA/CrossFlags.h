//===- CrossFlags.h - Cross-core flags of cores that run together ---------===//
//
// Cross-core flags of cores that run together (docs/commands.md): who has raised what, and how often each core may pass
// its waits. A token is what a raise carries to its wait: nothing, a time, a clock.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_ISA_CROSSFLAGS_H
#define PTO_MLIR_ISA_CROSSFLAGS_H

#include "pto_mlir/ISA/Insns.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace pto_mlir::isa {

/// The position of a core in a launch.
struct CorePlace {
  CoreKind kind{};
  uint32_t block = 0, subblock = 0;
};

/// The flags of one group of cores.
template <class Token> class CrossFlags {
public:
  static constexpr unsigned numIds = kMostVectorCores * kNumCrossIds;

  /// Sets all flags of these cores to 0; afterwards a core is named by its index in `cores`.
  void reset(std::vector<CorePlace> cores) {
    places = std::move(cores);
    gates.clear();
    raised.resize(places.size() * numIds);
    for (Tokens &tokens : raised)
      tokens.clear();
  }

  /// Core `from` raises `id`. When all members of the raise have arrived, `join(into, token)` merges their tokens and
  /// `delivered(core, id)` is called for each core whose flag is incremented.
  template <class Join, class Delivered>
  void raise(size_t from, CrossMode mode, unsigned id, Token token, Join join, Delivered delivered) {
    Gate &gate = gateOf(from, mode, id);
    size_t member = size_t(std::find(gate.members.begin(), gate.members.end(), from) - gate.members.begin());
    gate.arrived[member].push_back(std::move(token));
    if (std::any_of(gate.arrived.begin(), gate.arrived.end(), [](auto &tokens) { return tokens.empty(); }))
      return;
    Token all = takeFirst(gate.arrived[0]);
    for (size_t m = 1; m < gate.arrived.size(); ++m)
      join(all, takeFirst(gate.arrived[m]));
    for (size_t core : gate.targets) {
      raised[core * numIds + gate.targetId].push_back(all);
      delivered(core, gate.targetId);
    }
  }

  /// Would raising it take some core's flag beyond its highest count?
  bool isFull(size_t from, CrossMode mode, unsigned id) {
    Gate &gate = gateOf(from, mode, id);
    for (size_t m = 0; m < gate.members.size(); ++m)
      if (gate.members[m] != from && gate.arrived[m].empty())
        return gate.arrived[size_t(std::find(gate.members.begin(), gate.members.end(), from) - gate.members.begin())]
                   .size() >= kMostCrossRaises;
    return std::any_of(gate.targets.begin(), gate.targets.end(),
                       [&](size_t core) { return raised[core * numIds + gate.targetId].size() >= kMostCrossRaises; });
  }

  /// Decrements the core's flag and returns its token; nothing if the flag is 0.
  std::optional<Token> take(size_t core, unsigned id) {
    Tokens &tokens = raised[core * numIds + id];
    if (tokens.empty())
      return std::nullopt;
    return takeFirst(tokens);
  }

  /// The cores whose raise is missing before `core` can pass its wait; empty if no core has begun to raise the flag.
  std::vector<size_t> missing(size_t core, unsigned id) const {
    for (const auto &[key, gate] : gates)
      if (gate.targetId == id && std::count(gate.targets.begin(), gate.targets.end(), core))
        if (auto [some, cores] = incomplete(gate); some)
          return cores;
    return {};
  }

  /// An unconsumed or incomplete raise at the end of a kernel.
  struct Leftover {
    unsigned id;
    size_t core;                 // the core whose flag is set, or one that has raised it
    std::vector<size_t> missing; // members that have not raised; empty: the flag itself is set
  };
  /// The first flag that is not 0, or that only some members have raised.
  std::optional<Leftover> leftover() const {
    for (size_t i = 0; i < raised.size(); ++i)
      if (!raised[i].empty())
        return Leftover{unsigned(i % numIds), i / numIds, {}};
    for (const auto &[key, gate] : gates)
      if (auto [some, cores] = incomplete(gate); some)
        return Leftover{gate.targetId, *some, cores};
    return std::nullopt;
  }

private:
  /// First in, first out. A vector: at most kMostCrossRaises tokens, and most flags of a launch are never raised, which
  /// must cost no allocation.
  using Tokens = std::vector<Token>;

  static Token takeFirst(Tokens &tokens) {
    Token token = std::move(tokens.front());
    tokens.erase(tokens.begin());
    return token;
  }

  /// A raise that takes effect when all members have made it.
  struct Gate {
    std::vector<size_t> members, targets;
    std::vector<Tokens> arrived; // per member
    unsigned targetId = 0;
  };

  static std::pair<std::optional<size_t>, std::vector<size_t>> incomplete(const Gate &gate) {
    std::optional<size_t> some;
    std::vector<size_t> cores;
    for (size_t m = 0; m < gate.members.size(); ++m)
      if (gate.arrived[m].empty())
        cores.push_back(gate.members[m]);
      else if (!some)
        some = gate.members[m];
    return {some, cores};
  }

  Gate &gateOf(size_t from, CrossMode mode, unsigned id) {
    const CorePlace &place = places[from];
    bool lane = mode == CrossMode::lane;
    // Everything that tells two gates apart.
    std::tuple key(mode, id, place.kind, mode == CrossMode::all ? 0 : place.block, lane ? place.subblock : 0);
    auto [entry, isNew] = gates.try_emplace(key);
    Gate &gate = entry->second;
    if (!isNew)
      return gate;
    gate.targetId = !lane                         ? id
                    : place.kind == CoreKind::AIC ? id % kNumCrossIds
                                                  : id % kNumCrossIds + kNumCrossIds * place.subblock;
    for (size_t core = 0; core < places.size(); ++core) {
      const CorePlace &other = places[core];
      bool sameKind = other.kind == place.kind;
      if (mode != CrossMode::all && other.block != place.block)
        continue;
      if (lane ? core == from : sameKind)
        gate.members.push_back(core);
      bool isTarget = mode == CrossMode::block      ? !sameKind
                      : !lane                       ? sameKind
                      : sameKind                    ? false
                      : place.kind == CoreKind::AIC ? other.subblock == id / kNumCrossIds
                                                    : true;
      if (isTarget)
        gate.targets.push_back(core);
    }
    gate.arrived.resize(gate.members.size());
    return gate;
  }

  std::vector<CorePlace> places;
  std::map<std::tuple<CrossMode, unsigned, CoreKind, uint32_t, uint32_t>, Gate> gates;
  std::vector<Tokens> raised; // by core, then id
};

} // namespace pto_mlir::isa

#endif
