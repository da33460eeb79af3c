//===- AttentionPart.cpp - what both functions of a kernel share ----------===//

#include "AttentionPart.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace pto_mlir::attention {

AttentionPart::AttentionPart(func::FuncOp func, const Attention &attention, const AttentionTiling &tiling,
                             const Rings &rings, int64_t cores)
    : e(func), a(attention), t(tiling), rings(rings), block(e.constant(0)), blocks(e.constant(cores)),
      heads(e.constant(attention.problem.heads)) {
  e.cores = cores;
  if (a.batches)
    heads = e.mul(e.size(a.batches), a.headsOfBatch);
  queries = a.queries ? e.size(a.queries) : e.constant(a.problem.queries);
  keys = a.keys ? e.size(a.keys) : e.constant(a.problem.keys);
  chooseUnits();
  if (cores != 1)
    block =
        e.b.create<arith::IndexCastOp>(e.loc, e.b.getIndexType(), e.b.create<pto::GetBlockIdxOp>(e.loc)).getResult();
  if (cores == 0)
    blocks =
        e.b.create<arith::IndexCastOp>(e.loc, e.b.getIndexType(), e.b.create<pto::GetBlockNumOp>(e.loc)).getResult();
}

/// Into how many parts units are cut where there are few.
constexpr int64_t kParts[] = {2, 4};

int64_t AttentionPart::leastShare() const { return ceilDiv(ceilDiv(t.rows, *std::rbegin(kParts)), e.arch.vectorCores); }

void AttentionPart::chooseUnits() {
  unitRows = e.constant(t.unit), share = e.constant(t.share);
  // Where units of that size leave blocks without one, smaller ones.
  if (a.queries && e.cores > 1)
    for (int64_t parts : kParts) {
      int64_t rows = ceilDiv(t.rows, parts);
      Ix units = e.mul(heads, e.ceilDiv(queries, rows));
      unitRows = e.ifAtMost(units, e.cores, e.constant(rows), unitRows);
      share = e.ifAtMost(units, e.cores, e.constant(ceilDiv(rows, e.arch.vectorCores)), share);
    }
  chunk = e.ceilDiv(share, kHalves);
  unitsOfHead = e.ceilDiv(queries, unitRows);
}

void AttentionPart::setKeys(Unit &unit) {
  unit.firstTile = e.constant(0), unit.endTile = e.ceilDiv(keys, t.keys);
  unit.length = keys;
  if (a.lengths) {
    Value given = e.b.create<pto::LoadScalarOp>(e.loc, e.b.getI32Type(), e.argument(*a.lengths),
                                                e.value(e.div(unit.head, a.headsOfBatch)));
    Ix number = e.b.create<arith::IndexCastOp>(e.loc, e.b.getIndexType(), given).getResult();
    unit.length = e.max(e.min(number, unit.length), e.constant(0));
    unit.endTile = e.ceilDiv(unit.length, t.keys);
  }
  unit.offset = a.offset ? e.constant(*a.offset) : e.sub(unit.length, queries);
  // Positions of the keys that the first and the last row see.
  if (a.after) {
    Ix last = e.add(e.add(e.add(unit.row, unit.rows), unit.offset), e.constant(*a.after));
    Ix seen = e.div(e.max(e.add(last, e.constant(t.keys - 1)), e.constant(0)), t.keys);
    unit.endTile = e.min(unit.endTile, seen);
  }
  if (a.before) {
    Ix first = e.sub(e.add(unit.row, unit.offset), e.constant(*a.before));
    unit.firstTile = e.min(e.div(e.max(first, e.constant(0)), t.keys), unit.endTile);
  }
}

AttentionPart::Unit AttentionPart::unitAt(Ix index, Ix exists) {
  Unit unit;
  unit.exists = exists;
  unit.strip = e.constant(0);
  unit.turn = e.rem(e.div(index, blocks), 2);
  if (t.sets == 1)
    unit.before = e.mul(e.div(e.max(index, e.constant(0)), blocks), e.ceilDiv(keys, t.keys));
  Ix number = unitOf(index);
  unit.head = e.div(number, unitsOfHead);
  unit.row = e.mul(e.rem(number, unitsOfHead), unitRows);
  unit.rows = e.extent(unit.row, unitRows, queries);
  setKeys(unit);
  unit.firstTile = e.mul(unit.firstTile, exists);
  unit.endTile = e.mul(unit.endTile, exists);
  return unit;
}

Ix AttentionPart::countUnits() { return e.mul(heads, unitsOfHead); }

Ix AttentionPart::unitOf(Ix index) {
  Ix units = countUnits(), one = e.constant(1);
  // A unit that does not exist is like the first or the last one, without tiles.
  auto inside = [&](Ix x) { return e.max(e.min(x, e.sub(units, one)), e.constant(0)); };
  if (!a.after || e.cores < 2)
    return inside(index);
  // Later rows see more keys. Blocks take the longest units first; rounds go to and fro, and the last one, in which not
  // every block has a unit, begins at the block with the shortest one so far.
  Ix rounds = e.ceilDiv(units, e.cores);
  Ix back = e.rem(e.sub(e.sub(rounds, one), e.div(index, e.cores)), 2);
  Ix mirror = e.sub(e.constant(e.cores - 1), e.mul(block, 2));
  Ix rank = inside(isConstantIntValue(rounds, 1) ? index : e.add(index, e.mul(back, mirror)));
  Ix last = e.sub(e.sub(unitsOfHead, one), e.div(rank, heads));
  return e.add(e.mul(e.rem(rank, heads), unitsOfHead), last);
}

void AttentionPart::enterStrip(const Unit &unit, Ix strip) {
  u.strip = strip;
  Ix first = e.mul(strip, t.rows);
  u.row = e.add(unit.row, first);
  u.rows = isConstantIntValue(unit.rows, t.strips * t.rows) ? e.constant(t.rows)
                                                            : e.min(e.constant(t.rows), e.sub(unit.rows, first));
}

void AttentionPart::forStrips(llvm::function_ref<void()> body) {
  if (t.strips == 1)
    return body();
  Unit unit = u;
  e.loop(e.constant(0), e.constant(t.strips), [&](Ix strip) {
    enterStrip(unit, strip);
    body();
  });
  u = unit;
}

void AttentionPart::forEachStrip(llvm::function_ref<void(int64_t)> body) {
  Unit unit = u;
  for (int64_t strip = 0; strip < t.strips; ++strip) {
    if (t.strips > 1)
      enterStrip(unit, e.constant(strip));
    body(strip);
  }
  u = unit;
}

void AttentionPart::forUnits() {
  Ix units = countUnits(), one = e.constant(1), zero = e.constant(0);
  auto atLeastOne = [&](Ix x) { return e.min(e.max(x, zero), one); };
  auto loop = e.b.create<scf::ForOp>(e.loc, e.value(block), e.value(e.add(units, blocks)), e.value(blocks));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  Ix index = loop.getInductionVar(), last = e.sub(index, blocks);
  Unit unit = unitAt(index, atLeastOne(e.sub(units, index))), before = unitAt(last, atLeastOne(e.add(last, one)));
  before.turn = e.sub(one, unit.turn);
  int64_t most = t.tiles(a.problem);
  Ix lead = e.constant(std::min(kAhead, most));
  u = unit;
  unlessZero(u.exists, false, [&] { begin(); });
  e.loop(zero, lead, [&](Ix step) {
    enterLoop(false);
    u = unit;
    Ix tile = e.add(u.firstTile, step);
    unlessZero(atLeastOne(e.sub(u.endTile, tile)), false, [&] { ahead(tile); });
    u = before;
    tile = e.add(e.sub(u.endTile, lead), step);
    // Only tiles that there are: a unit may have fewer than those ahead.
    Ix seen = e.mul(u.exists, atLeastOne(e.add(e.sub(tile, u.firstTile), one)));
    unlessZero(seen, false, [&] { behind(tile); });
  });
  u = before;
  unlessZero(u.exists, false, [&] { finish(); });
  // A loop that never runs would take event ids from the one that does.
  if (most <= kAhead)
    return;
  u = unit;
  beforeBoth(e.max(e.min(e.add(u.firstTile, lead), e.sub(u.endTile, one)), zero));
  e.loop(e.add(u.firstTile, lead), u.endTile, [&](Ix tile) {
    enterLoop(true);
    both(tile, e.sub(tile, lead));
  });
}

Value AttentionPart::alloc(int32_t buffers, pto::TileBufType type) {
  Value tile = alloc(type);
  tile.getDefiningOp()->setAttr("pto.buffers", e.b.getI32IntegerAttr(buffers));
  return tile;
}

Ix AttentionPart::keysOf(Ix tile) {
  Ix first = e.mul(tile, t.keys);
  return a.lengths ? e.min(e.constant(t.keys), e.sub(u.length, first)) : e.extent(first, t.keys, keys);
}

void AttentionPart::unlessZero(Ix count, bool sure, llvm::function_ref<void()> body) {
  if (sure)
    return body();
  e.ifZero(count, [] {}, body);
}

Ix AttentionPart::partExtent(Ix whole, int64_t number, int64_t size) {
  Ix rest = e.min(e.constant(size), e.sub(whole, e.constant(number * size)));
  return number ? e.max(rest, e.constant(0)) : rest;
}

Rings makeRings(const Attention &a, const AttentionTiling &t, int64_t blocks, unsigned firstArgument) {
  Type f32 = Float32Type::get(a.element.getContext());
  auto ring = [&](int32_t number, Type element, int64_t columns) {
    cube::Ring ring;
    ring.matrix.arg = firstArgument + number;
    ring.matrix.element = element;
    ring.slots = t.sets * kSlots * t.strips;
    ring.matrix.rows = blocks * ring.slots * t.box;
    ring.matrix.cols = columns;
    ring.rows = t.box;
    ring.semaphore = number;
    return ring;
  };
  Rings rings{ring(0, f32, t.keys), ring(1, a.element, t.keys),
              ring(2, f32, roundUp(a.problem.valueDepth, 16) + (t.ones ? kSumColumns : 0))};
  rings.weights.fromVectors = true;
  return rings;
}

} // namespace pto_mlir::attention
