//===- AttentionPart.cpp - what both functions of a kernel share ----------===//

#include "AttentionPart.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pto_mlir::attention {

AttentionPart::AttentionPart(func::FuncOp func, const Attention &attention, const AttentionTiling &tiling,
                             const Rings &rings, int64_t cores)
    : e(func), a(attention), t(tiling), rings(rings), block(e.constant(0)) {
  e.cores = cores;
  if (cores != 1)
    block =
        e.b.create<arith::IndexCastOp>(e.loc, e.b.getIndexType(), e.b.create<pto::GetBlockIdxOp>(e.loc)).getResult();
}

void AttentionPart::enterUnit(Ix unit) {
  const AttentionProblem &p = a.problem;
  int64_t perHead = ceilDiv(p.queries, t.rows), tiles = t.tiles(p);
  head = e.div(unit, perHead);
  row = e.mul(e.rem(unit, perHead), t.rows);
  rows = e.extent(row, t.rows, p.queries);
  firstTile = e.constant(0), endTile = e.constant(tiles);
  length = e.constant(p.keys);
  if (a.lengths) {
    Value given = e.b.create<pto::LoadScalarOp>(e.loc, e.b.getI32Type(), e.argument(*a.lengths),
                                                e.value(e.div(head, a.headsOfBatch)));
    Ix number = e.b.create<arith::IndexCastOp>(e.loc, e.b.getIndexType(), given).getResult();
    length = e.max(e.min(number, length), e.constant(0));
    endTile = e.div(e.add(length, e.constant(t.keys - 1)), t.keys);
  }
  offset = a.offset ? e.constant(*a.offset) : e.sub(length, e.constant(p.queries));
  // Positions of the keys that the first and the last row see.
  if (a.after) {
    Ix last = e.add(e.add(e.add(row, rows), offset), e.constant(*a.after));
    endTile = e.min(endTile, e.div(e.max(e.add(last, e.constant(t.keys - 1)), e.constant(0)), t.keys));
  }
  if (a.before) {
    Ix first = e.sub(e.add(row, offset), e.constant(*a.before));
    firstTile = e.min(e.div(e.max(first, e.constant(0)), t.keys), endTile);
  }
}

Ix AttentionPart::unitOf(Ix index) {
  int64_t units = t.units(a.problem), heads = a.problem.heads, perHead = units / heads;
  if (!a.after || e.cores < 2)
    return index;
  // Later rows see more keys. Blocks take the longest units first; rounds go to and fro, and the last one, in which not
  // every block has a unit, begins at the block with the shortest one so far.
  int64_t rounds = ceilDiv(units, e.cores);
  Ix back = e.rem(e.sub(e.constant(rounds - 1), e.div(index, e.cores)), 2);
  Ix mirror = e.sub(e.constant(e.cores - 1), e.mul(block, 2));
  Ix rank = rounds == 1 ? index : e.add(index, e.mul(back, mirror));
  Ix last = e.sub(e.constant(perHead - 1), e.div(rank, heads));
  return e.add(e.mul(e.rem(rank, heads), perHead), last);
}

void AttentionPart::forUnits(llvm::function_ref<void()> body) {
  e.spread(t.units(a.problem), [&](Ix index) {
    enterUnit(unitOf(index));
    body();
  });
}

Ix AttentionPart::keysOf(Ix tile) {
  Ix first = e.mul(tile, t.keys);
  return a.lengths ? e.min(e.constant(t.keys), e.sub(length, first)) : e.extent(first, t.keys, a.problem.keys);
}

void AttentionPart::each(Ix first, Ix end, Step body) {
  auto from = getConstantIntValue(first), to = getConstantIntValue(end);
  if (!from || !to || *to - *from > 1)
    return e.loop(first, end, body);
  if (*to - *from == 1)
    body(first);
}

void AttentionPart::forTiles(Step ahead, Step behind) {
  Ix lead = e.add(firstTile, e.constant(kAhead));
  each(firstTile, e.min(lead, endTile), ahead);
  each(lead, endTile, [&](Ix tile) {
    ahead(tile);
    behind(e.sub(tile, e.constant(kAhead)));
  });
  each(e.max(e.sub(endTile, e.constant(kAhead)), firstTile), endTile, behind);
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

Value AttentionPart::valid(Value tile, Ix validRows, Ix validColumns) {
  auto type = cast<pto::TileBufType>(tile.getType());
  auto number = [](Ix x) { return getConstantIntValue(x).value_or(ShapedType::kDynamic); };
  pto::TileBufType wanted = type.withValid(number(validRows), number(validColumns));
  if (wanted == type)
    return tile;
  Value zero = e.value(e.constant(0));
  return e.b.create<pto::SubViewOp>(e.loc, wanted, tile, ValueRange{zero, zero}, e.value(validRows),
                                    e.value(validColumns), e.b.getI64ArrayAttr({type.getRows(), type.getCols()}));
}

Rings makeRings(const Attention &a, const AttentionTiling &t, int64_t blocks, unsigned firstArgument) {
  Type f32 = Float32Type::get(a.element.getContext());
  auto ring = [&](int32_t number, Type element, int64_t columns) {
    cube::Ring ring;
    ring.matrix.arg = firstArgument + number;
    ring.matrix.element = element;
    ring.matrix.rows = blocks * kSlots * t.box;
    ring.matrix.cols = columns;
    ring.rows = t.box;
    ring.slots = kSlots;
    ring.semaphore = number;
    return ring;
  };
  Rings rings{ring(0, f32, t.keys), ring(1, a.element, t.keys), ring(2, f32, roundUp(a.problem.valueDepth, 16))};
  rings.weights.fromVectors = true;
  return rings;
}

} // namespace pto_mlir::attention
