//===- AttentionTiling.cpp - sizes of an attention kernel -----------------===//

#include "pto_mlir/Kernels/AttentionTiling.h"

#include "pto_mlir/ISA/Table.h"

#include <algorithm>
#include <vector>

namespace pto_mlir::attention {

namespace {

constexpr int64_t kFloat = 4; // bytes of scores, sums and statistics
constexpr int64_t kBox = 16;  // rows and columns of a fractal
/// What a tile of keys costs beside its rows, in rows: its loads, and the waits from core to core.
constexpr int64_t kRowsOfTile = 128;
/// What a strip costs a vector core beside its rows, in rows: the starts of its instructions.
constexpr int64_t kRowsOfStrip = 53;
/// The same where both halves' statistics are worked on at once.
constexpr int64_t kRowsOfPair = 36;
/// Cost ratio of a unit whose rows are known at run time to one with constant rows.
constexpr int64_t kRagged = 108, kWhole = 100;
constexpr int64_t kMaxRows = 128, kMinRows = 32, kRowStep = 8;

/// Bytes of two tiles of each kind, which share their memory when they have one type.
int64_t pooled(int64_t first, int64_t second, bool sameType) {
  return sameType ? 2 * std::max(first, second) : 2 * (first + second);
}

int64_t wide(int64_t columns) { return roundUp(columns, kBox); }

/// Do weights meet ones in the cube core? By the extents of a head alone, as sums are rounded so. With wider heads L0B
/// has no room for the ones, or for steps that keep M busy.
bool addsUpByProducts(const AttentionProblem &p) {
  return p.bytes == 2 && p.depth <= 64 && p.valueDepth <= 64 && p.valueDepth % kBox == 0;
}

/// What decides the order of sums: keys of a tile, and steps of its two products. Several are tried, the first ones
/// first.
struct Steps {
  std::vector<int64_t> keys, scores, sums;
};

/// The tiling with units of `strips` strips of at most `rows` rows; products take what L0 holds.
std::optional<AttentionTiling> cut(const AttentionProblem &p, const AttentionLimits &limits, int64_t strips,
                                   int64_t rows, int64_t keys, const Steps &steps) {
  AttentionTiling t;
  t.ones = addsUpByProducts(p);
  t.sets = p.allKeys ? 1 : kSets;
  // Units of a head differ by as little as can be.
  t.unit = ceilDiv(p.queries, ceilDiv(p.queries, strips * rows));
  t.strips = strips;
  t.rows = ceilDiv(t.unit, strips);
  // No strip is without rows.
  if (strips > 1 && (!p.alike || leastRows(p, t) < 1))
    return std::nullopt;
  t.box = roundUp(t.rows, kBox);
  t.share = ceilDiv(t.rows, limits.vectorCores);
  t.chunk = ceilDiv(t.share, kHalves);
  t.chunkBox = roundUp(t.chunk, 32 / kFloat);
  // Halves of a tile's columns are whole blocks of 32 bytes, and the tile whole steps.
  t.keys = std::min(keys, roundUp(p.keys, p.keys > 64 ? std::max<int64_t>(64, steps.sums.front()) : 2 * kBox));
  if (ubBytes(p, t) > limits.ub)
    return std::nullopt;
  for (int64_t columns : {128, 64, 32, 16})
    for (int64_t depth : steps.scores)
      for (int64_t sum : steps.sums) {
        t.scoreKeys = std::min(columns, t.keys);
        t.scoreStep = std::min(depth, wide(p.depth));
        t.sumStep = std::min({sum, t.keys, std::max<int64_t>(64, wide(p.valueDepth))});
        bool whole = t.keys % t.scoreKeys == 0 && t.keys % t.sumStep == 0 && wide(p.depth) % t.scoreStep == 0;
        if (whole && l0aBytes(p, t) <= limits.l0a && l0bBytes(p, t) <= limits.l0b && l0cBytes(p, t) <= limits.l0c &&
            l1Bytes(p, t) <= limits.l1)
          return t;
      }
  return std::nullopt;
}

/// Those that fit the most rows, whatever the numbers of queries and keys: their results are the same.
std::optional<Steps> chooseSteps(AttentionProblem p, const AttentionLimits &limits) {
  const Steps all{{256, 128, 64}, {128, 64, 32, 16}, {128, 64, 32, 16}};
  p.keys = all.keys.front();
  for (int64_t rows = kMaxRows; rows >= kMinRows; rows -= kRowStep) {
    p.queries = rows;
    for (int64_t keys : all.keys)
      if (auto t = cut(p, limits, 1, rows, keys, all))
        return Steps{{t->keys}, {t->scoreStep}, {t->sumStep}};
  }
  return std::nullopt;
}

/// Is no unit or half of one smaller than others?
bool isEven(const AttentionProblem &p, const AttentionTiling &t) {
  return p.queries % t.unit == 0 && t.chunk == t.chunkBox;
}

/// Those with units of `strips` strips, the greatest first.
std::vector<AttentionTiling> withStrips(const AttentionProblem &p, const AttentionLimits &limits, const Steps &steps,
                                        int64_t strips, int64_t rowStep) {
  AttentionProblem wide = p; // tiles of few keys may share less of L0
  wide.keys = steps.keys.front();
  std::vector<AttentionTiling> result;
  for (int64_t rows = kMaxRows; rows >= kMinRows; rows -= rowStep) {
    std::optional<AttentionTiling> found = cut(p, limits, strips, rows, wide.keys, steps);
    if (!found)
      found = cut(wide, limits, strips, rows, wide.keys, steps);
    if (found)
      result.push_back(*found);
  }
  return result;
}

/// What the longest of the vector cores' work and the cube cores' loads takes per key, as rows of a vector core. By
/// `benchmarks/silicon/compiled.py`, with one head of 128.
int64_t timeOfRounds(const AttentionProblem &p, const AttentionLimits &limits, const AttentionTiling &t) {
  // The loop that goes strip by strip has most of the time where there are many tiles; narrow heads gain nothing by it.
  bool pairs = t.strips > 1 && t.tiles(p) >= 2 * kAhead && !t.ones;
  int64_t vectors = t.strips * (t.rows + (pairs ? kRowsOfPair : kRowsOfStrip)) * (isEven(p, t) ? kWhole : kRagged);
  int64_t loads = (p.depth + p.valueDepth + t.strips * t.rows) * p.bytes * kWhole / 4;
  return ceilDiv(t.units(p), limits.blocks) * std::max(vectors, loads);
}

} // namespace

std::optional<AttentionLimits> attentionLimits(std::string_view architecture) {
  const isa::ArchInfo *arch = isa::findArch(architecture);
  if (!arch)
    return std::nullopt;
  auto bytes = [&](isa::Memory memory) -> int64_t { return arch->memory(memory).bytes; };
  return AttentionLimits{arch->scratchBegin,      bytes(isa::Memory::L1),  bytes(isa::Memory::L0A),
                         bytes(isa::Memory::L0B), bytes(isa::Memory::L0C), arch->blocks,
                         arch->vectorCores};
}

int64_t leastRows(const AttentionProblem &p, const AttentionTiling &t) {
  int64_t last = p.queries - (ceilDiv(p.queries, t.unit) - 1) * t.unit;
  return last - (t.strips - 1) * t.rows;
}

int64_t ubBytes(const AttentionProblem &p, const AttentionTiling &t) {
  int64_t scores = kHalves * t.chunkBox * t.keys * (kFloat + p.bytes);
  int64_t scratch = t.chunkBox * t.keys / 2 * kFloat;
  int64_t sums = (t.strips + 1) * kHalves * t.chunkBox * (wide(p.valueDepth) + (t.ones ? kSumColumns : 0)) * kFloat;
  // A tile of weights holds the result where it is wide enough.
  int64_t result = t.keys < wide(p.valueDepth) ? t.chunkBox * wide(p.valueDepth) * p.bytes : 0;
  int64_t statistics = (t.strips * (1 + kSets + t.sets * kSlots) + 2) * kHalves * t.chunkBox * kFloat;
  int64_t biasRow = (t.keys + kBox) * (kFloat + p.bytes); // and a sink
  return scores + scratch + sums + result + statistics + biasRow;
}

int64_t l1Bytes(const AttentionProblem &p, const AttentionTiling &t) {
  int64_t buffers = t.strips > 1 ? 1 : 2; // of K and V; each strip has its own of the weights
  int64_t query = t.strips * t.box * wide(p.depth), keys = buffers * t.keys * wide(p.depth);
  int64_t weights = 2 * t.box * t.keys, values = buffers * t.keys * wide(p.valueDepth);
  return (query + keys + weights + values) * p.bytes;
}

int64_t l0aBytes(const AttentionProblem &p, const AttentionTiling &t) {
  return pooled(t.box * t.scoreStep * p.bytes, t.box * t.sumStep * p.bytes, t.scoreStep == t.sumStep);
}

int64_t l0bBytes(const AttentionProblem &p, const AttentionTiling &t) {
  return pooled(t.scoreStep * t.scoreKeys * p.bytes, t.sumStep * wide(p.valueDepth) * p.bytes,
                t.scoreStep == t.sumStep && t.scoreKeys == wide(p.valueDepth)) +
         (t.ones ? t.sumStep * kBox * p.bytes : 0);
}

int64_t l0cBytes(const AttentionProblem &p, const AttentionTiling &t) {
  int64_t scores = t.box * t.scoreKeys * kFloat, sums = t.box * wide(p.valueDepth) * kFloat;
  return (t.scoreKeys == wide(p.valueDepth) ? 2 * scores : 2 * scores + sums) + (t.ones ? t.box * kBox * kFloat : 0);
}

std::optional<AttentionTiling> chooseAttentionTiling(const AttentionProblem &p, const AttentionLimits &limits) {
  std::optional<Steps> steps = chooseSteps(p, limits);
  if (!steps)
    return std::nullopt;
  std::optional<AttentionTiling> best;
  int64_t least = 0;
  for (const AttentionTiling &tiling : withStrips(p, limits, *steps, 1, kRowStep)) {
    int64_t time =
        ceilDiv(tiling.units(p), limits.blocks) * (tiling.rows + kRowsOfTile) * (isEven(p, tiling) ? kWhole : kRagged);
    if (!best || time < least)
      best = tiling, least = time;
  }
  // Two strips load K and V once; their rows are more than a unit's, so that rounds may be less even.
  for (const AttentionTiling &tiling : withStrips(p, limits, *steps, kMaxStrips, 1))
    if (timeOfRounds(p, limits, tiling) < timeOfRounds(p, limits, *best))
      best = tiling;
  return best;
}

} // namespace pto_mlir::attention
