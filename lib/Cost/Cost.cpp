#include "pto_mlir/Cost/Cost.h"

#include "Extent.h"
#include "VectorCost.h"

#include <algorithm>

namespace pto_mlir::cost {
namespace {

using isa::CostForm;
using isa::OperandList;

constexpr double gib = 1024.0 * 1024 * 1024;

/// Bytes of the boxes of the tile's layout that its valid region takes.
double boxBytes(const isa::Tile &t) {
  isa::Box box = isa::innerBox(t.layout, t.type);
  return double(bytesOf(t, ceilDiv(rows(t), box.rows) * ceilDiv(cols(t), box.cols) * box.rows * box.cols));
}

InsnCost atRate(double bytes, const OperandList &o, const ChipInfo &chip) {
  return {0, bytes / (o.info.cost->work * gib) * chip.clock, 0};
}

GlobalPath pathOf(isa::Memory memory, bool reads) {
  if (memory == isa::Memory::L0C)
    return GlobalPath::FromL0C;
  if (memory == isa::Memory::UB)
    return reads ? GlobalPath::ToUB : GlobalPath::FromUB;
  return reads ? GlobalPath::ToL1 : GlobalPath::FromL1;
}

InsnCost globalCost(const isa::DecodedInsn &insn, const OperandList &o) {
  return {0, 0, 0, pathOf(isa::memoryOf(insn, o.operand(0)), o.isWritten(0)), payload(o.dstTile())};
}

/// What the fixpipe writes has the view's type.
InsnCost drainCost(const OperandList &o) {
  const isa::Tile &acc = o.dstTile();
  return {0, 0, 0, GlobalPath::FromL0C, rows(acc) * cols(acc) * (isa::elementBits(o.globalView->type) / 8)};
}

const isa::Tile &leftOperand(const OperandList &o) {
  for (unsigned i = 0; i < o.numTiles; ++i)
    if (o.operand(i).memories >> unsigned(isa::Memory::L0A) & 1)
      return *o.tiles[i];
  return o.srcTile();
}

/// One step of 16 rows x 32 bytes of depth x 16 columns after the other.
InsnCost productCost(const OperandList &o) {
  const isa::Rate &rate = *o.info.cost;
  const isa::Tile &dst = o.dstTile(), &left = leftOperand(o);
  double steps =
      double(ceilDiv(rows(dst), 16) * ceilDiv(cols(left) * isa::elementBits(left.type), 256) * ceilDiv(cols(dst), 16));
  return {rate.head, steps * (left.type == isa::ElementType::f32 ? rate.more : rate.work), rate.tail};
}

} // namespace

InsnCost costOf(const isa::DecodedInsn &insn, const ChipInfo &chip) {
  OperandList o(insn);
  const isa::Rate &rate = *o.info.cost;
  if (rate.form == CostForm::cycles || o.numTiles == 0)
    return {0, 1, 0};
  if (chip.vectorCurves && o.info.a5Cost->curves.size() > 0)
    return curveCost(o);
  switch (rate.form) {
  case CostForm::cycles:
    break;
  case CostForm::repeats:
  case CostForm::widest:
    return repeatsCost(o);
  case CostForm::rows:
    return rowsCost(o);
  case CostForm::spread:
    return spreadCost(o);
  case CostForm::kilobytes:
    return {rate.head, rate.work * double(ceilDiv(payload(o.srcTile()), 1024)), rate.tail};
  case CostForm::sorts:
    return {rate.head, rate.work * double(ceilDiv(rows(o.srcTile()) * cols(o.srcTile()), 32)), rate.tail};
  case CostForm::product:
    return productCost(o);
  case CostForm::global:
    return globalCost(insn, o);
  case CostForm::drain:
    return drainCost(o);
  case CostForm::payload:
    return atRate(double(payload(o.srcTile())), o, chip);
  case CostForm::boxes:
    return atRate(boxBytes(o.dstTile()), o, chip);
  case CostForm::extract:
    return atRate(boxBytes(o.dstTile()) * chip.extractFactor, o, chip);
  case CostForm::granules: {
    auto granule = uint64_t(rate.more);
    return atRate(double(roundUp(payload(o.dstTile()), granule)), o, chip);
  }
  case CostForm::converted:
    return atRate(double(bytesOf(o.dstTile(), rows(o.srcTile()) * cols(o.srcTile()))), o, chip);
  }
  return {0, 1, 0};
}

double bytesPerCycle(const ChipInfo &chip, GlobalPath path) {
  return chip.pathBytesPerSecond[unsigned(path)] / chip.clock;
}

double sharedBytesPerCycle(const ChipInfo &chip, GlobalPath path) {
  return std::min<double>(chip.pathBytesPerSecond[unsigned(path)], chip.l2BytesPerSecond / chip.blocks) / chip.clock;
}

double secondsPerByte(const ChipInfo &chip, GlobalPath path, double sharing, double hbm) {
  double own = 1 / chip.pathBytesPerSecond[unsigned(path)];
  double cold = std::min(hbm, 1.0), linesPerByte = std::max(hbm, 1.0);
  double hot = std::max(own, sharing / chip.l2BytesPerSecond),
         outside = std::max(own, linesPerByte * sharing / chip.hbmBytesPerSecond);
  return (1 - cold) * hot + cold * outside;
}

double bytesPerCycle(const ChipInfo &chip, isa::Opcode opcode) {
  const isa::Rate &rate = *isa::infoOf(opcode).cost;
  double slower = rate.form == CostForm::extract ? double(chip.extractFactor) : 1;
  return rate.work * gib / slower / chip.clock;
}

} // namespace pto_mlir::cost
