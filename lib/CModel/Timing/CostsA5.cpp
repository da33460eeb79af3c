// Vector instructions of a5: reference pto-isa 4.7.
#include "OperandList.h"
#include "Timing/Costs.h"
#include "Timing/Extent.h"

namespace pto_mlir::cmodel {
namespace {

/// 4.7: cycles of a run of `repeats` without gaps, and of rows of so many repeats each.
struct A5Curve {
  double perRepeat, fixed;
  double perRowRepeat, perRow, fixedOfRows;
};

std::optional<A5Curve> a5Curve(const isa::DecodedInsn &insn, const OperandList &o) {
  using isa::Opcode;
  bool f16 = o.tiles[0]->type == isa::ElementType::f16;
  switch (insn.opcode) {
  case Opcode::TAdd:
  case Opcode::TSub:
  case Opcode::TMax:
  case Opcode::TMin:
  case Opcode::TAnd:
  case Opcode::TOr:
  case Opcode::TXor:
  case Opcode::TSubrelu:
  case Opcode::TRowexpandadd:
  case Opcode::TRowexpandsub:
  case Opcode::TRowexpandmax:
  case Opcode::TRowexpandmin:
  case Opcode::TColexpandadd:
  case Opcode::TColexpandsub:
  case Opcode::TColexpandmax:
  case Opcode::TColexpandmin:
    return A5Curve{1.247, 55.07, 1.875, 2.876, 44.34};
  case Opcode::TMul:
  case Opcode::TPrelu:
  case Opcode::TMuladddst:
  case Opcode::TFusedmuladd:
  case Opcode::TFusedmuladdrelu:
  case Opcode::TRowexpandmul:
  case Opcode::TColexpandmul:
    return A5Curve{1.194, 56.29, 1.871, 2.912, 44.84};
  case Opcode::TAdds:
  case Opcode::TSubs:
  case Opcode::TMuls:
  case Opcode::TMaxs:
  case Opcode::TMins:
  case Opcode::TLrelu:
  case Opcode::TAxpy:
  case Opcode::TAnds:
  case Opcode::TOrs:
  case Opcode::TXors:
    return A5Curve{1.059, 53.14, 1.102, 4.531, 49.63};
  case Opcode::TNeg:
  case Opcode::TAbs:
  case Opcode::TNot:
  case Opcode::TRelu:
  case Opcode::TMov:
  case Opcode::TExpands:
  case Opcode::TColexpand:
    return A5Curve{1.059, 55.14, 1.095, 4.565, 51.51};
  case Opcode::TExp:
  case Opcode::TLog:
    return f16 ? A5Curve{3.762, 65.93, 3.998, -0.12, 64.16} : A5Curve{1.967, 62.66, 1.855, 2.544, 60.60};
  case Opcode::TSqrt:
    return f16 ? A5Curve{3.762, 66.93, 3.998, -0.12, 65.16} : A5Curve{1.967, 63.66, 1.855, 2.544, 61.60};
  case Opcode::TDiv:
  case Opcode::TDivs:
  case Opcode::TDivsRev:
  case Opcode::TRecip:
  case Opcode::TRowexpanddiv:
  case Opcode::TColexpanddiv:
    return f16 ? A5Curve{3.549, 68.74, 3.998, -0.12, 65.16} : A5Curve{1.908, 64.52, 1.869, 2.475, 62.94};
  case Opcode::TRsqrt:
    return f16 ? A5Curve{8.107, 81.10, 8.011, 0.057, 80.7} : A5Curve{4.029, 75.57, 4.0, 0.03, 76.5};
  case Opcode::TSel:
  case Opcode::TSels:
  case Opcode::TCmp:
  case Opcode::TCmps:
    return A5Curve{2.098, 52.48, 2.462, 1.427, 48.62};
  case Opcode::TCvt: {
    unsigned to = isa::elementBits(o.tiles[0]->type), from = isa::elementBits(o.tiles[1]->type);
    if (to <= 8)
      return from == 16 && to == 8 ? A5Curve{1.320, 53.30, 1.290, 1.785, 52.47}
                                   : A5Curve{12.32, 55.30, 87.64, -30.0, 7.6};
    if (from <= 8)
      return from == 4 ? A5Curve{0.893, 89.90, 3.296, 1.943, 61.6} : A5Curve{3.934, 81.02, 5.163, -1.76, 69.1};
    if (to > from) // 1D of the published table is a bad fit: as one row after the other
      return A5Curve{1.270, 53.59, 1.270, 1.930, 51.66};
    return to < from ? A5Curve{1.320, 52.30, 2.258, 1.042, 55.18} : A5Curve{1.213, 53.20, 1.279, 1.833, 51.81};
  }
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<InsnCost> a5VectorCost(const isa::DecodedInsn &insn, const OperandList &o) {
  if (o.numTiles == 0)
    return std::nullopt;
  std::optional<A5Curve> curve = a5Curve(insn, o);
  if (!curve)
    return std::nullopt;
  // Elements per repeat: 64 where a side has 32 bits or a source 8 with a fraction, 128 of 16 bits, 256 of fewer.
  using isa::Opcode;
  bool compares = insn.opcode == Opcode::TCmp || insn.opcode == Opcode::TCmps,
       selects = insn.opcode == Opcode::TSel || insn.opcode == Opcode::TSels;
  uint64_t lanes = 256;
  for (unsigned i = 0; i < o.numTiles; ++i) {
    if ((compares && i == 0) || (selects && i == 1)) // a mask
      continue;
    unsigned bits = isa::elementBits(o.tiles[i]->type);
    bool small = i > 0 && bits == 8 && isa::isFloat(o.tiles[i]->type);
    lanes = std::min<uint64_t>(lanes, bits >= 32 || small ? 64 : bits == 16 ? 128 : 256);
  }
  const isa::Tile &shape = *o.tiles[o.numTiles > 1 && !selects ? 1 : 0];
  constexpr double start =
      23; // of a vector function; the rest of what is fixed is waited for by whoever needs the result
  if (rows(shape) <= 1 || cols(shape) == shape.cols)
    return InsnCost{start, curve->perRepeat * double(up(rows(shape) * cols(shape), lanes)), curve->fixed - start};
  double row = curve->perRowRepeat * double(up(cols(shape), lanes)) + curve->perRow;
  return InsnCost{std::min(start, curve->fixedOfRows), row * double(rows(shape)),
                  std::max(0.0, curve->fixedOfRows - start)};
}

} // namespace pto_mlir::cmodel
