#include "VectorCost.h"

#include "Extent.h"

#include <algorithm>

namespace pto_mlir::cost {
namespace {

using isa::AccessPattern;
using isa::CostForm;
using isa::OperandList;

/// What a vector instruction works on at a time, in bytes.
constexpr uint64_t kRepeatBytes = 256;
/// What a row that ends inside a repeat costs an instruction that counts its elements (pto-isa cost model, A2/A3 cycles
/// per intrinsic: count mode).
constexpr double kCounting = 16;
/// The start of a vector function of a5 (pto-isa cost model, A5: VF start); the rest of what a curve has beside its
/// repeats is waited for by whoever needs the result.
constexpr double kFunctionStart = 23;

uint64_t rowRepeats(const isa::Tile &t) { return ceilDiv(bytesOf(t, cols(t)), kRepeatBytes); }

/// A tile without gaps is one run, others go row by row.
uint64_t repeats(const isa::Tile &t) {
  bool dn = t.layout == isa::Layout::DN;
  if (dn ? rows(t) == t.rows : cols(t) == t.cols)
    return ceilDiv(payload(t), kRepeatBytes);
  return dn ? cols(t) * ceilDiv(bytesOf(t, rows(t)), kRepeatBytes) : rows(t) * rowRepeats(t);
}

bool isMask(const OperandList &o, unsigned tile) {
  AccessPattern access = o.operand(tile).access;
  return access == AccessPattern::maskOfDst || access == AccessPattern::maskOfSrc;
}

/// Which of the conversion's curves, in the order of CurveConvert in Costs.td.
size_t conversionCurve(unsigned from, unsigned to) {
  if (to <= 8)
    return from == 16 && to == 8 ? 0 : 1;
  if (from <= 8)
    return from == 4 ? 2 : 3;
  return to > from ? 4 : to < from ? 5 : 6;
}

const isa::Curve &curveOf(const OperandList &o) {
  const isa::CurveSet &set = *o.info.a5Cost;
  switch (set.by) {
  case isa::CurveChoice::half:
    return set.curves[o.dstTile().type == isa::ElementType::f16 ? 1 : 0];
  case isa::CurveChoice::conversion:
    return set.curves[conversionCurve(isa::elementBits(o.srcTile().type), isa::elementBits(o.dstTile().type))];
  case isa::CurveChoice::one:
    break;
  }
  return set.curves[0];
}

/// Elements per repeat on a5: 64 where a side has 32 bits or a source 8 with a fraction, 128 of 16 bits, 256 of fewer.
uint64_t lanesOf(const OperandList &o) {
  uint64_t lanes = 256;
  for (unsigned i = 0; i < o.numTiles; ++i) {
    if (isMask(o, i))
      continue;
    unsigned bits = isa::elementBits(o.tiles[i]->type);
    bool small = i > 0 && bits == 8 && isa::isFloat(o.tiles[i]->type);
    lanes = std::min<uint64_t>(lanes, bits >= 32 || small ? 64 : bits == 16 ? 128 : 256);
  }
  return lanes;
}

} // namespace

InsnCost repeatsCost(const OperandList &o) {
  const isa::Rate &rate = *o.info.cost;
  const isa::Tile &dst = o.dstTile();
  uint64_t n = repeats(dst);
  for (unsigned i = 1; rate.form == CostForm::widest && i < o.numTiles; ++i)
    n = std::max(n, repeats(*o.tiles[i]));
  bool ragged = rate.counts && bytesOf(dst, cols(dst)) % kRepeatBytes != 0 &&
                !(cols(dst) == dst.cols && payload(dst) % kRepeatBytes == 0);
  return {rate.head, rate.work * double(n) + (ragged ? kCounting : 0), rate.tail};
}

InsnCost rowsCost(const OperandList &o) {
  const isa::Rate &rate = *o.info.cost;
  auto further = double(std::max<uint64_t>(rowRepeats(o.srcTile()), 1) - 1);
  return {rate.head, double(rows(o.srcTile())) * (rate.work + rate.more * further), rate.tail};
}

InsnCost spreadCost(const OperandList &o) {
  const isa::Rate &rate = *o.info.cost;
  return {rate.head, double(rows(o.dstTile())) * (rowRepeats(o.dstTile()) > 1 ? rate.more : rate.work), rate.tail};
}

InsnCost curveCost(const OperandList &o) {
  const isa::Curve &curve = curveOf(o);
  uint64_t lanes = lanesOf(o);
  const isa::Tile &shape = *o.tiles[o.numTiles > 1 && o.operand(1).access != AccessPattern::maskOfDst ? 1 : 0];
  if (rows(shape) <= 1 || cols(shape) == shape.cols)
    return {kFunctionStart, curve.perRepeat * double(ceilDiv(rows(shape) * cols(shape), lanes)),
            curve.fixed - kFunctionStart};
  double row = curve.perRowRepeat * double(ceilDiv(cols(shape), lanes)) + curve.perRow;
  return {std::min(kFunctionStart, curve.fixedOfRows), row * double(rows(shape)),
          std::max(0.0, curve.fixedOfRows - kFunctionStart)};
}

} // namespace pto_mlir::cost
