//===- CubePart.cpp - the products of an attention kernel -----------------===//
//
// scores: Q times the keys of a tile, in pieces of `scoreKeys` columns.
// sums: the weights of a tile times its values, in steps of `sumStep` keys.
//
//===----------------------------------------------------------------------===//

#include "AttentionPart.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <map>

using namespace mlir;

namespace pto_mlir::attention {

namespace {

class CubePart final : AttentionPart {
public:
  using AttentionPart::AttentionPart;

  void run() {
    reserveAll();
    if (t.ones)
      makeOnes();
    forUnits();
    e.b.create<func::ReturnOp>(e.loc);
  }

private:
  void begin() override {
    Ix depth = e.constant(a.problem.depth);
    forEachStrip([&](int64_t strip) {
      Ix row = e.add(e.rowOf(a.query, u.head), u.row), column = e.colOf(a.query, u.head);
      e.load(e.part(a.query, row, column, u.rows, depth), query(strip));
    });
  }
  void finish() override {}

  /// Two where there are flags for them (rationale-attention-kernels): one is loaded while the other is multiplied.
  /// With strips all are single and stay the same.
  void enterLoop(bool main) override {
    if (t.strips > 1)
      return;
    // The short loop has most of the time where there are few tiles.
    int32_t ofShort = t.tiles(a.problem) < 2 * kAhead ? 2 : 1;
    keyTile = alloc(main ? 2 : ofShort, keyType());
    valueTile = alloc(main ? 1 : ofShort, valueType());
    weightTile[0] = alloc(1, weightType());
  }
  pto::TileBufType keyType() { return pto::makeMatZNTile(e.context(), wide(a.problem.depth), t.keys, a.element); }
  pto::TileBufType valueType() { return pto::makeMatTile(e.context(), t.keys, wide(a.problem.valueDepth), a.element); }

  static constexpr int64_t kBox = 16; // columns of a fractal
  static int64_t wide(int64_t columns) { return roundUp(columns, kBox); }

  pto::TileBufType leftType(int64_t depth) { return pto::makeLeftTile(e.context(), e.arch, t.box, depth, a.element); }
  pto::TileBufType rightType(int64_t depth, int64_t columns) {
    return pto::makeRightTile(e.context(), depth, columns, a.element);
  }
  pto::TileBufType accType(int64_t columns) { return pto::makeAccTile(e.context(), t.box, columns, e.b.getF32Type()); }

  /// Tiles of L0 that are used in turn, the same for all loops.
  void reserve(pto::TileBufType type, int64_t count) {
    Pool &pool = pools[type.getAsOpaquePointer()];
    while (int64_t(pool.tiles.size()) < count)
      pool.tiles.push_back(alloc(type));
  }
  void reserveAll() {
    for (int64_t strip = 0; strip < t.strips; ++strip)
      queryTile[strip] = alloc(pto::makeMatTile(e.context(), t.box, wide(a.problem.depth), a.element));
    if (t.strips > 1) {
      keyTile = alloc(keyType()), valueTile = alloc(valueType());
      for (Value &tile : weightTile)
        tile = alloc(weightType());
    }
    int64_t width = wide(a.problem.valueDepth);
    reserve(leftType(t.scoreStep), 2);
    reserve(leftType(t.sumStep), 2);
    reserve(rightType(t.scoreStep, t.scoreKeys), 2);
    reserve(rightType(t.sumStep, width), 2);
    // Sums have a tile of their own where three fit.
    bool three = 3 * t.box * t.scoreKeys * 4 <= attentionLimits(e.arch.name)->l0c;
    reserve(accType(t.scoreKeys), three && t.scoreKeys == width ? 3 : 2);
    reserve(accType(width), 1);
  }
  /// What the weights are multiplied with: it stays in L0B.
  void makeOnes() {
    Value source = alloc(pto::makeMatTile(e.context(), t.sumStep, kBox, a.element));
    Value one = e.b.create<arith::ConstantOp>(e.loc, e.b.getFloatAttr(a.element, 1));
    e.b.create<pto::TExpandSOp>(e.loc, one, source);
    ones = alloc(rightType(t.sumStep, kBox));
    extract(source, e.constant(0), e.constant(0), ones);
    totals = alloc(accType(kBox));
  }
  Value next(pto::TileBufType type) {
    Pool &pool = pools.at(type.getAsOpaquePointer());
    return pool.tiles[pool.turn++ % pool.tiles.size()];
  }
  Value left(int64_t depth, Ix extent) { return valid(next(leftType(depth)), u.rows, extent); }
  Value right(int64_t depth, int64_t columns, Ix extent, Ix width) {
    return valid(next(rightType(depth, columns)), extent, width);
  }
  Value accumulator(int64_t columns, Ix width) { return valid(next(accType(columns)), u.rows, width); }

  pto::TileBufType weightType() { return pto::makeMatTile(e.context(), t.box, t.keys, a.element); }

  Value query(int64_t strip) { return valid(queryTile[strip], u.rows, e.constant(a.problem.depth)); }
  void extract(Value source, Ix row, Ix column, Value tile) {
    e.b.create<pto::TExtractOp>(e.loc, source, e.value(row), e.value(column), tile);
  }
  void multiply(Value acc, Value x, Value y, bool first) {
    if (first)
      e.b.create<pto::TMatmulOp>(e.loc, x, y, acc);
    else
      e.b.create<pto::TMatmulAccOp>(e.loc, acc, x, y, acc);
  }

  /// The scores of a tile.
  void ahead(Ix tile) override {
    loadKeys(tile);
    forEachStrip([&](int64_t strip) { scoresOf(tile, strip); });
  }

  void loadKeys(Ix tile) {
    Ix kvHead = e.div(u.head, a.group);
    Ix first = e.add(e.rowOf(a.key, kvHead), e.mul(tile, t.keys));
    e.load(e.part(a.key, e.colOf(a.key, kvHead), first, e.constant(a.problem.depth), keysOf(tile)), keysIn(tile));
  }
  Value keysIn(Ix tile) { return valid(keyTile, e.constant(a.problem.depth), keysOf(tile)); }

  void scoresOf(Ix tile, int64_t strip) {
    Ix keys = keysOf(tile);
    Value k = keysIn(tile);
    Ix slot = slotOf(rings.scores, tile);
    // With one step Q stays in L0A for all pieces.
    Value whole;
    int64_t depth = a.problem.depth;
    if (t.scoreStep >= depth) {
      whole = left(t.scoreStep, e.constant(depth));
      extract(query(strip), e.constant(0), e.constant(0), whole);
    }
    for (int64_t piece = 0; piece * t.scoreKeys < t.keys; ++piece) {
      Ix columns = partExtent(keys, piece, t.scoreKeys);
      unlessZero(columns, alwaysMoreKeys(piece * t.scoreKeys),
                 [&] { scorePiece(k, piece, columns, slot, whole, strip); });
    }
    cube::raise(e, pto::Pipe::PIPE_FIX, rings.scores);
  }

  void scorePiece(Value k, int64_t piece, Ix columns, Ix slot, Value whole, int64_t strip) {
    int64_t depth = a.problem.depth;
    Value acc = accumulator(t.scoreKeys, columns);
    for (int64_t at = 0; at < depth; at += t.scoreStep) {
      Ix extent = e.constant(std::min(t.scoreStep, depth - at));
      Value x = whole;
      if (!x) {
        x = left(t.scoreStep, extent);
        extract(query(strip), e.constant(0), e.constant(at), x);
      }
      Value y = right(t.scoreStep, t.scoreKeys, extent, columns);
      extract(k, e.constant(at), e.constant(piece * t.scoreKeys), y);
      multiply(acc, x, y, at == 0);
    }
    store(acc, rings.scores, slot, piece * t.scoreKeys, columns);
  }

  /// The sums of a tile.
  void behind(Ix tile) override {
    // V needs no wait, so its load stands in front of it.
    loadValues(tile);
    forEachStrip([&](int64_t strip) {
      loadWeights(tile, strip);
      sumsOf(tile, strip);
    });
  }

  void beforeBoth(Ix tile) override {
    if (t.strips > 1)
      loadKeys(tile);
  }

  /// With strips loads stand in the order in which their tiles become free: the keys of the next tile behind both
  /// strips' weights, which come during the scores.
  void both(Ix first, Ix second) override {
    if (t.strips == 1)
      return AttentionPart::both(first, second);
    loadValues(second);
    forEachStrip([&](int64_t strip) { scoresOf(first, strip); });
    forEachStrip([&](int64_t strip) { loadWeights(second, strip); });
    loadKeys(e.min(e.add(first, e.constant(1)), e.sub(u.endTile, e.constant(1))));
    forEachStrip([&](int64_t strip) { sumsOf(second, strip); });
  }

  void loadValues(Ix tile) {
    Ix kvHead = e.div(u.head, a.group);
    Ix first = e.add(e.rowOf(a.value, kvHead), e.mul(tile, t.keys));
    e.load(e.part(a.value, first, e.colOf(a.value, kvHead), keysOf(tile), e.constant(a.problem.valueDepth)),
           valuesIn(tile));
  }
  Value valuesIn(Ix tile) { return valid(valueTile, keysOf(tile), e.constant(a.problem.valueDepth)); }

  void loadWeights(Ix tile, int64_t strip) {
    cube::await(e, pto::Pipe::PIPE_MTE2, rings.weights);
    e.load(e.part(rings.weights.matrix, slotOf(rings.weights, tile), e.constant(0), u.rows, keysOf(tile)),
           weightsIn(tile, strip));
  }
  Value weightsIn(Ix tile, int64_t strip) { return valid(weightTile[strip], u.rows, keysOf(tile)); }

  void sumsOf(Ix tile, int64_t strip) {
    const AttentionProblem &p = a.problem;
    Ix width = e.constant(p.valueDepth), keys = keysOf(tile);
    Value v = valuesIn(tile), weights = weightsIn(tile, strip);
    Ix copies = e.constant(kSumColumns), slot = slotOf(rings.sums, tile);
    Value acc = accumulator(wide(p.valueDepth), width), total = t.ones ? valid(totals, u.rows, copies) : Value();
    for (int64_t piece = 0; piece * t.sumStep < t.keys; ++piece) {
      Ix extent = partExtent(keys, piece, t.sumStep), at = e.constant(piece * t.sumStep);
      unlessZero(extent, alwaysMoreKeys(piece * t.sumStep), [&] {
        Value x = left(t.sumStep, extent), y = right(t.sumStep, wide(p.valueDepth), extent, width);
        extract(weights, e.constant(0), at, x);
        extract(v, at, e.constant(0), y);
        multiply(acc, x, y, piece == 0);
        if (total)
          multiply(total, x, valid(ones, extent, copies), piece == 0);
      });
    }
    store(acc, rings.sums, slot, 0, width);
    if (total)
      store(total, rings.sums, slot, p.valueDepth, copies);
    cube::raise(e, pto::Pipe::PIPE_FIX, rings.sums);
  }

  void store(Value acc, const cube::Ring &ring, Ix slot, int64_t column, Ix columns) {
    e.b.create<pto::TStoreOp>(e.loc, acc, e.part(ring.matrix, slot, e.constant(column), u.rows, columns),
                              pto::ReluPreMode::no_relu);
  }

  struct Pool {
    SmallVector<Value> tiles;
    size_t turn = 0;
  };
  std::map<const void *, Pool> pools; // by type
  Value queryTile[kMaxStrips], keyTile, valueTile, weightTile[kMaxStrips], ones, totals;
};

} // namespace

void buildCubePart(func::FuncOp func, const Attention &attention, const AttentionTiling &tiling, const Rings &rings,
                   int64_t cores) {
  CubePart(func, attention, tiling, rings, cores).run();
}

} // namespace pto_mlir::attention
