//===- VectorPart.cpp - the online softmax of an attention kernel ---------===//
//
// Each vector core has its share of a unit's rows, in two halves with tiles of
// their own. Maximum, sum and output are f32 in UB; the factor by which a tile
// rescales what is summed so far waits in a ring until the tile's sums come.
//
//===----------------------------------------------------------------------===//

#include "AttentionPart.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

namespace pto_mlir::attention {

namespace {

/// Finite, so that a difference of two maxima is a number.
constexpr float kLowest = std::numeric_limits<float>::lowest();
/// Where a row sees no key its sum is 0, and so is its output: 0 / this.
constexpr float kTiny = 1e-30f;

class VectorPart final : AttentionPart {
public:
  using AttentionPart::AttentionPart;

  void run() {
    reserveAll();
    Ix lane =
        e.b.create<arith::IndexCastOp>(e.loc, e.b.getIndexType(), e.b.create<pto::GetSubBlockIdxOp>(e.loc)).getResult();
    for (int64_t half = 0; half < kHalves; ++half)
      local[half] = e.add(e.mul(lane, share), e.mul(chunk, half));
    for (int64_t strip = 0; strip < t.strips; ++strip)
      clear(part(output, e.constant(strip * kHalves * t.chunkBox), kHalves * t.chunkBox));
    forUnits();
    e.b.create<func::ReturnOp>(e.loc);
  }

private:
  static int64_t wide(int64_t columns) { return roundUp(columns, 16); }

  pto::TileBufType tileType(int64_t rows, int64_t columns, Type element) {
    return pto::makeVecTile(e.context(), rows, columns, element);
  }

  void reserveAll() {
    Type f32 = e.b.getF32Type();
    int64_t height = t.chunkBox, width = wide(a.problem.valueDepth), sums = t.ones ? sumWidth() : width;
    auto tile = [&](int64_t rows, int64_t columns, Type element) { return alloc(tileType(rows, columns, element)); };
    maxima = tile(t.strips * kHalves, height, f32);
    totals = tile(t.strips * kSets * kHalves, height, f32);
    factors = tile(t.strips * t.sets * kSlots * kHalves, height, f32);
    greatest = tile(kHalves, height, f32);
    added = tile(kHalves, height, f32);
    scratch = tile(height, t.keys / 2, f32);
    output = tile(t.strips * kHalves * height, sums, f32);
    for (int64_t half = 0; half < kHalves; ++half) {
      scores[half] = tile(height, t.keys, f32);
      rounded[half] = tile(height, t.keys, a.element);
    }
    incoming = tile(kHalves * height, sums, f32);
    if (a.sinks) {
      sink = tile(1, 16, f32);
      sinkGiven = tile(1, 16, a.sinks->element);
    }
    if (a.bias && !a.biasByRow) {
      biasRow = tile(1, t.keys, f32);
      biasGiven = tile(1, t.keys, a.bias->element);
    }
    if (t.keys < width)
      result = tile(height, width, a.element);
    // Statistics are worked on as whole rows, also of rows that a unit does not have.
    fill(greatest, 0);
    fill(added, 0);
  }

  /// Has each half at least a row, so that no branch stands between the halves and both are worked on at once? Where it
  /// has none, the unit's last row takes its place, whose results go nowhere: `finish` stores the unit's rows. A share
  /// of one row has no place for a second half in the slots.
  bool atLeastOneRow() const { return t.strips > 1 || (a.queries && t.ones && leastShare() > 1); }

  /// The unit's rows that each half has.
  void enterRows(bool stores = false) {
    const AttentionProblem &p = a.problem;
    int64_t cores = e.arch.vectorCores, least = atLeastOneRow() && !stores ? 1 : 0;
    bool always = !a.queries && leastRows(p, t) > (cores - 1) * t.share + (kHalves - 1) * t.chunk;
    sure = least > 0 || always;
    bool even = !a.queries && p.queries % t.unit == 0 && t.unit == t.strips * t.rows && t.rows == cores * t.share;
    for (int64_t half = 0; half < kHalves; ++half) {
      Ix most = half ? e.sub(share, chunk) : chunk;
      count[half] = even ? most : e.max(e.min(most, e.sub(u.rows, local[half])), e.constant(least));
      source[half] = always ? local[half] : e.min(local[half], e.sub(u.rows, e.constant(1)));
    }
  }

  /// The statistics before the first tile: those of the sink, or of nothing.
  void begin() override {
    if (!t.ones)
      forStrips([&] {
        for (int64_t half = 0; half < kHalves; ++half)
          fill(totalOf(half), a.sinks ? 1 : 0);
      });
    if (!a.sinks)
      return fill(maxima, kLowest);
    Ix one = e.constant(1);
    Value wide = valid(sink, one, one), given = a.sinks->element.isF32() ? wide : valid(sinkGiven, one, one);
    e.load(e.part(*a.sinks, e.constant(0), e.rem(u.head, a.headsOfBatch), one, one), given);
    if (given != wide)
      e.b.create<pto::TCvtOp>(e.loc, given, wide, pto::RoundMode::CAST_RINT);
    e.b.create<pto::TMaxSOp>(e.loc, wide, scalar(kLowest), wide);
    for (int64_t half = 0; half < t.strips * kHalves; ++half)
      e.b.create<pto::TRowExpandOp>(e.loc, wide, part(maxima, e.constant(half), 1));
  }

  Ix totalPlace(int64_t half) { return e.add(e.mul(u.turn, t.strips * kHalves), inStrip(half)); }
  Value totalOf(int64_t half) { return part(totals, totalPlace(half), 1); }
  /// The place of a half among those of all strips.
  Ix inStrip(int64_t half) { return e.add(e.mul(u.strip, kHalves), e.constant(half)); }

  void forHalves(llvm::function_ref<void(int64_t)> body) {
    for (int64_t half = 0; half < kHalves; ++half)
      unlessZero(count[half], sure, [&] { body(half); });
  }

  Value scalar(float value) {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(e.argument(0).getParentBlock());
    return e.b.create<arith::ConstantOp>(e.loc, e.b.getF32FloatAttr(value));
  }
  void fill(Value tile, float value) { e.b.create<pto::TExpandSOp>(e.loc, scalar(value), tile); }

  Value part(Value tile, Ix row, int64_t count) {
    auto type = cast<pto::TileBufType>(tile.getType());
    return e.b.create<pto::SubsetOp>(e.loc, tile, ValueRange{e.value(row), e.value(e.constant(0))},
                                     ArrayRef<int64_t>{count, type.getCols()});
  }
  Value asColumn(Value rows, int64_t count) {
    return e.b.create<pto::TReshapeOp>(e.loc, pto::makeVecColumnTile(e.context(), count, e.b.getF32Type()), rows);
  }

  /// Rows of the slot of a tile from the unit's row `first` on.
  Value slotPart(const cube::Ring &ring, Ix tile, Ix first, Ix rows, Ix columns) {
    return e.part(ring.matrix, e.add(slotOf(ring, tile), first), e.constant(0), rows, columns);
  }

  /// The weights of a tile.
  void ahead(Ix tile) override {
    forStrips([&] { weightsOf(tile); });
  }

  void weightsOf(Ix tile) {
    enterRows();
    Ix keys = keysOf(tile);
    loadBias(tile, keys);
    cube::await(e, pto::Pipe::PIPE_MTE2, rings.scores);
    forHalves([&](int64_t half) {
      e.load(slotPart(rings.scores, tile, source[half], count[half], keys), valid(scores[half], count[half], keys));
    });
    // Both halves at once take fewer instructions; where loads are the limit, one after the other has its tile free
    // early.
    if (sure && (t.strips > 1 || t.ones))
      softmax(tile, 0, kHalves, keys);
    else
      forHalves([&](int64_t half) { softmax(tile, half, 1, keys); });
    cube::raise(e, pto::Pipe::PIPE_MTE3, rings.weights);
  }

  /// The weights of `number` halves from `first` on. Statistics of all of them are worked on at once.
  void softmax(Ix tile, int64_t first, int64_t number, Ix keys) {
    OpBuilder &b = e.b;
    auto scoresOf = [&](int64_t half) { return valid(scores[half], count[half], keys); };
    auto forEach = [&](llvm::function_ref<void(int64_t)> body) {
      for (int64_t half = first; half < first + number; ++half)
        body(half);
    };
    auto statistics = [&](Value tile, Ix place) { return part(tile, place, number); };
    Value newest = statistics(greatest, e.constant(first)), sum = statistics(added, e.constant(first));
    Value maximum = statistics(maxima, inStrip(first)), total = statistics(totals, totalPlace(first));
    Value factor = statistics(factors, e.add(e.mul(this->place(tile), kHalves), e.constant(first)));
    auto subtract = [&](int64_t half) {
      Value s = scoresOf(half);
      b.create<pto::TRowExpandSubOp>(e.loc, s, columnIn(greatest, half), s);
    };
    forEach([&](int64_t half) {
      Value s = scoresOf(half);
      scale(s);
      addBias(half, keys, s);
      mask(tile, half, keys);
      b.create<pto::TRowMaxOp>(e.loc, s, scratch, columnIn(greatest, half));
    });
    b.create<pto::TMaxOp>(e.loc, newest, maximum, newest);
    b.create<pto::TSubOp>(e.loc, maximum, newest, factor);
    // With strips V is the busiest engine, and a half's subtraction stands where V would wait for results. Without, the
    // first half's tile is to be free early.
    bool ahead = t.strips > 1;
    if (ahead)
      subtract(first);
    b.create<pto::TExpOp>(e.loc, factor, factor);
    b.create<pto::TMovOp>(e.loc, newest, maximum);
    forEach([&](int64_t half) {
      if (!ahead)
        subtract(half);
      b.create<pto::TExpOp>(e.loc, scoresOf(half), scoresOf(half));
      if (ahead && half + 1 < first + number)
        subtract(half + 1);
      storeWeights(tile, half, keys, scoresOf(half));
    });
    if (t.ones)
      return;
    b.create<pto::TMulOp>(e.loc, total, factor, total);
    b.create<pto::TAddOp>(e.loc, total, sum, total);
  }

  void storeWeights(Ix tile, int64_t half, Ix keys, Value s) {
    Value w = a.element.isF32() ? s : valid(rounded[half], count[half], keys);
    if (w != s) {
      e.b.create<pto::TCvtOp>(e.loc, s, w, pto::RoundMode::CAST_RINT);
      if (!t.ones)
        unlessZero(fewKeys(), false, [&] { e.b.create<pto::TCvtOp>(e.loc, w, s, pto::RoundMode::CAST_RINT); });
    }
    if (!t.ones)
      e.b.create<pto::TRowSumOp>(e.loc, s, scratch, columnIn(added, half));
    e.b.create<pto::TStoreOp>(e.loc, w, slotPart(rings.weights, tile, local[half], count[half], keys),
                              pto::ReluPreMode::no_relu);
  }

  /// Not 0 where a head has one tile of keys. The sum is that of the rounded weights there, which then add up to 1: the
  /// roundings of few weights do not average out, and more tiles would take the time
  /// (docs/rationale-attention-kernels.md).
  Ix fewKeys() { return e.max(e.sub(e.constant(t.keys + 1), keys), e.constant(0)); }

  /// The scale, and cap * tanh(x / cap) as cap - 2 cap / (exp(2 x / cap) + 1).
  void scale(Value s) {
    double factor = a.softcap != 0 ? 2 * a.scale / a.softcap : a.scale;
    OpBuilder &b = e.b;
    if (factor != 1)
      b.create<pto::TMulSOp>(e.loc, s, scalar(factor), s);
    if (a.softcap == 0)
      return;
    b.create<pto::TExpOp>(e.loc, s, s);
    b.create<pto::TAddSOp>(e.loc, s, scalar(1), s);
    b.create<pto::TDivSOp>(e.loc, scalar(-2 * a.softcap), s, s);
    b.create<pto::TAddSOp>(e.loc, s, scalar(a.softcap), s);
  }

  /// The bias of a tile: where rows differ, in the tiles of the weights, which are free until then.
  void loadBias(Ix tile, Ix keys) {
    if (!a.bias)
      return;
    Ix column = e.add(e.colOf(*a.bias, u.head), e.mul(tile, t.keys)), first = e.rowOf(*a.bias, u.head);
    Ix one = e.constant(1);
    if (a.biasByRow)
      return forHalves([&](int64_t half) {
        e.load(e.part(*a.bias, e.add(e.add(first, u.row), source[half]), column, count[half], keys),
               valid(rounded[half], count[half], keys));
      });
    Value wide = valid(biasRow, one, keys), given = a.bias->element.isF32() ? wide : valid(biasGiven, one, keys);
    e.load(e.part(*a.bias, first, column, one, keys), given);
    if (given != wide)
      e.b.create<pto::TCvtOp>(e.loc, given, wide, pto::RoundMode::CAST_RINT);
  }

  void addBias(int64_t half, Ix keys, Value s) {
    if (!a.bias)
      return;
    if (!a.biasByRow) {
      e.b.create<pto::TColExpandAddOp>(e.loc, s, valid(biasRow, e.constant(1), keys), s);
      return;
    }
    forColumns(half, keys, [&](Value scores, Value wide, int64_t column) {
      Ix columns = partExtent(keys, column ? 1 : 0, t.keys / 2);
      Value given = columnsOf(rounded[half], column, t.keys / 2, count[half], columns);
      if (!a.bias->element.isF32()) {
        e.b.create<pto::TCvtOp>(e.loc, given, wide, pto::RoundMode::CAST_RINT);
        given = wide;
      }
      e.b.create<pto::TAddOp>(e.loc, scores, given, scores);
    });
  }

  /// Adds minus infinity to the scores of keys that a row does not see, in tiles on the border of what rows see.
  void mask(Ix tile, int64_t half, Ix keys) {
    // In the tile, row i sees the columns from i + `first` to i + `last`.
    Ix position = e.sub(e.add(e.add(u.row, local[half]), u.offset), e.mul(tile, t.keys));
    if (a.after) {
      Ix last = e.add(position, e.constant(*a.after));
      Ix hidden = e.max(e.sub(e.sub(keys, e.constant(1)), last), e.constant(0));
      unlessZero(hidden, false, [&] { addTriangle(half, keys, last, /*upper=*/false); });
    }
    if (a.before) {
      Ix first = e.sub(position, e.constant(*a.before));
      Ix hidden = e.max(e.add(first, e.sub(count[half], e.constant(1))), e.constant(0));
      unlessZero(hidden, false, [&] { addTriangle(half, keys, first, /*upper=*/true); });
    }
  }

  /// Adds ln(triangle), 0 or minus infinity, in two parts of the columns that the scratch memory holds.
  void addTriangle(int64_t half, Ix keys, Ix diagonal, bool upper) {
    forColumns(half, keys, [&](Value scores, Value mask, int64_t column) {
      Value at = e.b.create<arith::IndexCastOp>(e.loc, e.b.getI32Type(), e.value(e.sub(diagonal, e.constant(column))));
      e.b.create<pto::TTriOp>(e.loc, at, mask, upper);
      e.b.create<pto::TLogOp>(e.loc, mask, mask);
      e.b.create<pto::TAddOp>(e.loc, scores, mask, scores);
    });
  }

  /// The scores of the half and as much scratch memory, for one half of the columns and then the other.
  void forColumns(int64_t half, Ix keys, llvm::function_ref<void(Value, Value, int64_t)> body) {
    int64_t width = t.keys / 2;
    for (int64_t piece = 0; piece < 2; ++piece) {
      Ix columns = partExtent(keys, piece, width);
      unlessZero(columns, piece == 0 || alwaysMoreKeys(width), [&] {
        body(columnsOf(scores[half], piece * width, width, count[half], columns), valid(scratch, count[half], columns),
             piece * width);
      });
    }
  }

  /// `width` columns of a tile, in place.
  Value columnsOf(Value tile, int64_t column, int64_t width, Ix rows, Ix columns) {
    auto type = cast<pto::TileBufType>(tile.getType());
    auto number = [](Ix x) { return getConstantIntValue(x).value_or(ShapedType::kDynamic); };
    return e.b.create<pto::SubViewOp>(e.loc,
                                      type.withShape(type.getRows(), width).withValid(number(rows), number(columns)),
                                      tile, ValueRange{e.value(e.constant(0)), e.value(e.constant(column))},
                                      e.value(rows), e.value(columns), e.b.getI64ArrayAttr({type.getRows(), width}));
  }

  /// Rescales the output so far and adds the sums of a tile.
  void behind(Ix tile) override {
    forStrips([&] { gather(tile); });
  }

  /// Strip by strip: while sums are gathered, the next strip's scores come.
  void both(Ix first, Ix second) override {
    forStrips([&] { weightsOf(first), gather(second); });
  }

  void gather(Ix tile) {
    enterRows();
    Ix width = e.constant(sumWidth()), place = e.mul(this->place(tile), kHalves);
    cube::await(e, pto::Pipe::PIPE_MTE2, rings.sums);
    auto accumulate = [&](Value into, Value in, Value column) {
      e.b.create<pto::TRowExpandMulOp>(e.loc, into, column, into);
      e.b.create<pto::TAddOp>(e.loc, into, in, into);
    };
    if (getConstantIntValue(count[0]) && t.share == kHalves * t.chunkBox) {
      Ix all = e.constant(kHalves * t.chunk);
      Value in = valid(incoming, all, width);
      e.load(slotPart(rings.sums, tile, local[0], all, width), in);
      return accumulate(valid(outputOfStrip(), all, width), in,
                        asColumn(part(factors, place, kHalves), kHalves * t.chunkBox));
    }
    forHalves([&](int64_t half) {
      Value in = halfOf(incoming, half, width);
      e.load(slotPart(rings.sums, tile, source[half], count[half], width), in);
      accumulate(outputOf(half, width), in, columnOf(part(factors, e.add(place, e.constant(half)), 1), half));
    });
  }

  /// The statistics of a half, from those of both.
  Value columnIn(Value tile, int64_t half) { return columnOf(part(tile, e.constant(half), 1), half); }
  /// A row of statistics as the column of the half's rows.
  Value columnOf(Value row, int64_t half) { return valid(asColumn(row, t.chunkBox), count[half], e.constant(1)); }

  Value halfOf(Value tile, int64_t half, Ix width) {
    return valid(part(tile, e.constant(half * t.chunkBox), t.chunkBox), count[half], width);
  }

  void finish() override {
    forStrips([&] {
      enterRows(/*stores=*/true);
      forHalves([&](int64_t half) { finish(half); });
      clear(outputOfStrip());
    });
  }
  /// The output before the first tile: a sink's weight is 1, for the first maximum is its score.
  void clear(Value rows) {
    fill(rows, 0);
    if (t.ones && a.sinks)
      fill(totalsIn(rows), 1);
  }
  Value totalsIn(Value rows) {
    Ix count = e.constant(cast<pto::TileBufType>(rows.getType()).getRows());
    return columnsOf(rows, a.problem.valueDepth, kSumColumns, count, e.constant(kSumColumns));
  }

  /// Rows of the strip in the output: of a half, or of all.
  Value outputOf(int64_t half, Ix width) {
    return valid(part(output, e.mul(inStrip(half), t.chunkBox), t.chunkBox), count[half], width);
  }
  Value outputOfStrip() {
    return t.strips == 1 ? output : part(output, e.mul(u.strip, kHalves * t.chunkBox), kHalves * t.chunkBox);
  }

  void finish(int64_t half) {
    Ix width = e.constant(a.problem.valueDepth);
    Value total, rows;
    if (t.ones) {
      Value both = part(output, e.mul(inStrip(half), t.chunkBox), t.chunkBox);
      total = columnsOf(both, a.problem.valueDepth, kSumColumns, count[half], e.constant(kSumColumns));
      rows = columnsOf(both, 0, a.problem.valueDepth, count[half], width);
    } else {
      total = totalOf(half), rows = outputOf(half, width);
    }
    e.b.create<pto::TMaxSOp>(e.loc, total, scalar(kTiny), total);
    e.b.create<pto::TRowExpandDivOp>(e.loc, rows, t.ones ? total : columnOf(total, half), rows);
    if (!a.out.element.isF32()) {
      Value narrow = result ? valid(result, count[half], width)
                            : columnsOf(rounded[half], 0, wide(a.problem.valueDepth), count[half], width);
      e.b.create<pto::TCvtOp>(e.loc, rows, narrow, pto::RoundMode::CAST_RINT);
      rows = narrow;
    }
    Value target = e.part(a.out, e.add(e.add(e.rowOf(a.out, u.head), u.row), local[half]), e.colOf(a.out, u.head),
                          count[half], width);
    e.b.create<pto::TStoreOp>(e.loc, rows, target, pto::ReluPreMode::no_relu);
  }

  Ix local[kHalves], count[kHalves]; // a half's first row in the unit, and its rows
  Ix source[kHalves];                // the first row that it reads
  bool sure = true;                  // no half is without rows
  Value maxima, totals, factors, greatest, added, scratch, output, incoming, result, biasRow, biasGiven, sink,
      sinkGiven;
  Value scores[kHalves], rounded[kHalves];
};

} // namespace

void buildVectorPart(func::FuncOp func, const Attention &attention, const AttentionTiling &tiling, const Rings &rings,
                     int64_t cores) {
  VectorPart(func, attention, tiling, rings, cores).run();
}

} // namespace pto_mlir::attention
