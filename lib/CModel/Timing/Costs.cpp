#include "Timing/Costs.h"

#include "OperandList.h"
#include "Timing/Extent.h"

#include <algorithm>

namespace pto_mlir::cmodel {
namespace {

constexpr double sort32Cycles = 80; // of 32 values
constexpr double gib = 1024.0 * 1024 * 1024;

/// Repeats of 256 bytes (4.4): a tile without gaps is one run, others go row by row.
uint64_t rowRepeats(const isa::Tile &t) { return up(cols(t) * elementBytes(t), 256); }
uint64_t repeats(const isa::Tile &t) {
  bool dn = t.layout == isa::Layout::DN;
  if (dn ? rows(t) == t.rows : cols(t) == t.cols)
    return up(payload(t), 256);
  return dn ? cols(t) * up(rows(t) * elementBytes(t), 256) : rows(t) * rowRepeats(t);
}

/// 4.4: head, cycles per repeat, tail; 16 more when a binary operation's rows end inside a repeat.
struct VectorRate {
  double head, slope, tail;
  bool counts = false;
};

VectorRate vectorRate(isa::Opcode opcode) {
  using isa::Opcode;
  switch (opcode) {
  case Opcode::TAdd:
  case Opcode::TSub:
  case Opcode::TMax:
  case Opcode::TMin:
  case Opcode::TSubrelu:
  case Opcode::TPartadd:
  case Opcode::TPartmax:
  case Opcode::TPartmin:
    return {10, 2, 14, true};
  case Opcode::TMul:
  case Opcode::TMuladddst:
  case Opcode::TFusedmuladd:
  case Opcode::TFusedmuladdrelu:
  case Opcode::TPrelu:
  case Opcode::TPartmul:
    return {10, 2, 15, true};
  case Opcode::TDiv:
    return {11, 4, 19, true};
  case Opcode::TAnd:
  case Opcode::TOr:
    return {8, 2, 12, true};
  case Opcode::TNot:
  case Opcode::TAnds:
  case Opcode::TOrs:
    return {8, 2, 12};
  case Opcode::TXor: // or, and, not, and: the chip has no exclusive or
  case Opcode::TXors:
    return {8, 8, 12, true};
  case Opcode::TRem: // divide, floor, multiply, subtract
  case Opcode::TFmod:
  case Opcode::TRems:
  case Opcode::TFmods:
    return {45, 10, 66, true};
  case Opcode::TPow: // log, multiply, exp
  case Opcode::TPows:
    return {36, 6, 53, true};
  case Opcode::TGather: // 4.4
  case Opcode::TGatherb:
  case Opcode::TScatter:
    return {24, 2, 20};
  case Opcode::TGatherMask:
    return {14, 14, 20};
  case Opcode::TAdds:
  case Opcode::TSubs:
    return {13, 1, 18};
  case Opcode::TMuls:
  case Opcode::TNeg:
  case Opcode::TLrelu:
    return {11, 1, 15};
  case Opcode::TDivs: // 4.5: 5 cycles per repeat, 45 beside
  case Opcode::TDivsRev:
  case Opcode::TRecip:
    return {20, 5, 25};
  case Opcode::TMaxs:
  case Opcode::TRelu:
    return {10, 1, 13};
  case Opcode::TMins:
    return {14, 1, 16};
  case Opcode::TAbs:
    return {13, 1, 16};
  case Opcode::TExpands:
  case Opcode::TMov:
  case Opcode::TFillpad:
  case Opcode::TColexpand:
    return {11, 1, 13};
  case Opcode::TExp:
    return {13, 2, 18};
  case Opcode::TLog:
    return {13, 2, 20};
  case Opcode::TSqrt:
    return {14, 2, 25};
  case Opcode::TRsqrt:
    return {10, 1, 14};
  case Opcode::TSel:
  case Opcode::TSels:
    return {13, 2, 14};
  case Opcode::TCmp:
  case Opcode::TCmps:
    return {14, 2, 22};
  case Opcode::TCvt: // 4.5 measures 33 cycles for 4 repeats, which a slope of 1 gives; the table of 4.4 has 2
    return {14, 1, 18};
  // Rows: a column is spread to blocks first (vbrcb: 18), then the operation runs row by row.
  case Opcode::TRowexpandadd:
  case Opcode::TRowexpandsub:
  case Opcode::TRowexpandmax:
  case Opcode::TRowexpandmin:
    return {10, 2, 32, true};
  case Opcode::TRowexpandmul:
    return {10, 2, 33, true};
  case Opcode::TRowexpanddiv:
    return {11, 4, 37, true};
  case Opcode::TRowexpandexpdif: // the difference, then exp
    return {23, 4, 50, true};
  case Opcode::TColexpandadd:
  case Opcode::TColexpandsub:
  case Opcode::TColexpandmax:
  case Opcode::TColexpandmin:
    return {10, 2, 14, true};
  case Opcode::TColexpandmul:
    return {10, 2, 15, true};
  case Opcode::TColexpanddiv:
    return {11, 4, 19, true};
  case Opcode::TColexpandexpdif:
    return {23, 4, 32, true};
  default: // 4.4, last row
    return {6, 2, 0};
  }
}

InsnCost vectorCost(const isa::DecodedInsn &insn, const OperandList &o) {
  using isa::Opcode;
  if (o.numTiles == 0)
    return {0, 1, 0};
  bool reduces = o.info.shape == isa::Shape::rowReduce ||
                 o.info.shape == isa::Shape::colReduce; // src is the last one, behind all results
  const isa::Tile &dst = *o.tiles[0], &src = *o.tiles[reduces ? o.numTiles - 1 : o.numTiles > 1 ? 1 : 0];
  auto more = double(std::max<uint64_t>(rowRepeats(src), 1) - 1);
  switch (insn.opcode) {
  // 4.5, per row: 7 cycles for one repeat, about 1.45 for each further one.
  case Opcode::TRowsum:
    return {20, double(rows(src)) * (7 + 1.45 * more), 33};
  case Opcode::TRowprod:
    return {20, double(rows(src)) * (9 + 2.3 * more), 33};
  case Opcode::TRowmax:
  case Opcode::TRowmin:
  case Opcode::TRowargmax:
  case Opcode::TRowargmin:
  case Opcode::TRowargmaxValues:
  case Opcode::TRowargminValues:
    return {14, double(rows(src)) * (7 + 1.45 * more), 27};
  case Opcode::TRowexpand:
    return {15, double(rows(dst)) * (rowRepeats(dst) > 1 ? 15 : 14), 20};
  case Opcode::TColsum:
    return {8, double(rows(src)) * (19 + 2.1 * more), 12};
  case Opcode::TColmax:
  case Opcode::TColmin:
  case Opcode::TColprod:
  case Opcode::TColargmax:
  case Opcode::TColargmin:
  case Opcode::TColargmaxValues:
  case Opcode::TColargminValues:
    return {5, double(rows(src)) * (17.5 + 2.1 * more), 7};
  // 4.4: 78 cycles for four blocks of 32 records, that is a kilobyte.
  case Opcode::TMrgsort:
    return {20, 78 * double(up(payload(src), 1024)), 0};
  // 5.5: what merges and extraction leave of the published 5.5k cycles for a row of 1024.
  case Opcode::TSort32:
    return {6, sort32Cycles * double(up(rows(src) * cols(src), 32)), 0};
  default:
    break;
  }
  VectorRate rate = vectorRate(insn.opcode);
  // Comparisons and conversions step by the side that has more bytes.
  uint64_t n = repeats(dst);
  for (unsigned i = 1; i < o.numTiles; ++i)
    if (insn.opcode == Opcode::TCmp || insn.opcode == Opcode::TCmps || insn.opcode == Opcode::TCvt)
      n = std::max(n, repeats(*o.tiles[i]));
  bool ragged =
      rate.counts && cols(dst) * elementBytes(dst) % 256 != 0 && !(cols(dst) == dst.cols && payload(dst) % 256 == 0);
  return {rate.head, rate.slope * double(n) + (ragged ? 16 : 0), rate.tail};
}

/// 4.3: one step of 16 x 32 bytes x 16 per cycle, two cycles for f32.
InsnCost productCost(const isa::DecodedInsn &insn, const OperandList &o) {
  const isa::Tile
      &dst = *o.tiles[0],
      &left = *o.tiles[insn.opcode == isa::Opcode::TMatmulAcc || insn.opcode == isa::Opcode::TMatmulMxAcc ? 2 : 1];
  double steps = double(up(rows(dst), 16) * up(cols(left) * isa::elementBits(left.type), 256) * up(cols(dst), 16));
  return {6, steps * (left.type == isa::ElementType::f32 ? 2 : 1), 0};
}

} // namespace

const ChipModel &chipOf(isa::Arch arch) {
  // a3: the clock as the published products imply it (4.9); 5.2 gives what 24 cores take from L2 and from HBM (sizes
  // 1536 to 6144), L1 to L0 and L0C to global memory; 4.1 and 4.2 the rest. An L2 of 192 MiB with random replacement
  // makes the published product of 7680.
  static const ChipModel a3 = {isa::Arch::a3,
                               1.8e9,
                               24,
                               5.9e-6,
                               0,
                               24 * 169e9,
                               24 * 42.7e9,
                               192.0 * 1024 * 1024,
                               {1e12, 100.9 * gib, 169e9, 188.46 * gib, 32 * gib, 130e9},
                               {0, 60e-9, 36e-9, 58e-9, 0, 0},
                               1.29};
  // a5: 5.6, rows of 4096 to 8192: the clock by the peak of fp8; loads, L1 to L0 and stores from their shares of the
  // time. Paths to and from UB as on a3: none are published.
  static const ChipModel a5 = {isa::Arch::a5,
                               1.65e9,
                               32,
                               5.9e-6,
                               0,
                               32 * 152e9,
                               32 * 61e9,
                               192.0 * 1024 * 1024,
                               {1e12, 100.9 * gib, 152e9, 188.46 * gib, 32 * gib, 109e9},
                               {0, 60e-9, 36e-9, 58e-9, 0, 0},
                               1.17};
  return arch == isa::Arch::a5 ? a5 : a3;
}

InsnCost costOf(const isa::DecodedInsn &insn, const ChipModel &chip) {
  using isa::Opcode;
  OperandList o(insn);
  auto cycles = [&](double bytes, double bytesPerSecond) { return bytes / bytesPerSecond * chip.clock; };
  auto boxes = [](const isa::Tile &t) {
    isa::Box box = isa::innerBox(t.layout, t.type);
    return double(up(rows(t), box.rows) * up(cols(t), box.cols) * box.rows * box.cols * elementBytes(t));
  };
  double slower = chip.extractFactor;
  switch (insn.opcode) {
  case Opcode::TLoad:
    return {0, 0, 0, insn.as<isa::TLoad>().space == isa::Memory::UB ? GlobalPath::ToUB : GlobalPath::ToL1,
            payload(*o.tiles[0])};
  case Opcode::Mgather:
    return {0, 0, 0, GlobalPath::ToUB, payload(*o.tiles[0])};
  case Opcode::MgatherL1:
    return {0, 0, 0, GlobalPath::ToL1, payload(*o.tiles[0])};
  case Opcode::Mscatter:
    return {0, 0, 0, GlobalPath::FromUB, payload(*o.tiles[0])};
  case Opcode::TInsertL1:
    return {0, cycles(double(payload(*o.tiles[1])), 135 * gib), 0};
  case Opcode::TExpandsL1:
  case Opcode::TFillpadL1: // as fast as L1 is written from outside
    return {0, cycles(boxes(*o.tiles[0]), 135 * gib), 0};
  case Opcode::TExtractSa:
  case Opcode::TExtractSb:
    return {0, cycles(boxes(*o.tiles[0]) * slower, 220.5 * gib), 0};
  case Opcode::TStore:
    return {0, 0, 0, insn.as<isa::TStore>().space == isa::Memory::UB ? GlobalPath::FromUB : GlobalPath::FromL1,
            payload(*o.tiles[0])};
  case Opcode::TStoreAcc:
  case Opcode::TStoreAccQuant:
  case Opcode::TStoreAccQuantv:
    return {0, 0, 0, GlobalPath::FromL0C,
            rows(*o.tiles[0]) * cols(*o.tiles[0]) * (isa::elementBits(o.globalView->type) / 8)};
  case Opcode::TExtractL0a:
  case Opcode::TImg2col:
    return {0, cycles(boxes(*o.tiles[0]) * slower, 441 * gib), 0};
  case Opcode::TExtractL0b:
    return {0, cycles(boxes(*o.tiles[0]) * slower, 220.5 * gib), 0};
  case Opcode::TMovBt: // transfers of 64 bytes
    return {0, cycles(double(up(payload(*o.tiles[0]), 64) * 64), 32 * gib), 0};
  case Opcode::TMovFb: // of 128
    return {0, cycles(double(up(payload(*o.tiles[0]), 128) * 128), 32 * gib), 0};
  case Opcode::TMovAcc:
  case Opcode::TInsertAcc:
  case Opcode::TMovAccQuant:
  case Opcode::TMovAccQuantv:
  case Opcode::TMovAccUb:
  case Opcode::TMovAccUbQuant:
  case Opcode::TMovAccUbQuantv:
    return {0, cycles(double(rows(*o.tiles[1]) * cols(*o.tiles[1]) * elementBytes(*o.tiles[0])), 128 * gib), 0};
  case Opcode::TMatmul:
  case Opcode::TMatmulAcc:
  case Opcode::TMatmulBias:
  case Opcode::TMatmulMx:
  case Opcode::TMatmulMxAcc:
  case Opcode::TMatmulMxBias:
    return productCost(insn, o);
  default:
    break;
  }
  if (o.info.pipe == isa::Pipe::V) {
    if (chip.arch == isa::Arch::a5)
      if (auto cost = a5VectorCost(insn, o))
        return *cost;
    return vectorCost(insn, o);
  }
  return {0, 1, 0}; // flags, queues, scalars: 4.4
}

} // namespace pto_mlir::cmodel
