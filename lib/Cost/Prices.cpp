#include "pto_mlir/Cost/Prices.h"

#include "Extent.h"
#include "pto_mlir/Cost/Cost.h"
#include "pto_mlir/ISA/OperandList.h"

#include <bit>
#include <cmath>

namespace pto_mlir::cost {
namespace {

const isa::ChipInfo &chipOf(unsigned arch) { return isa::chipInfo(isa::Arch(arch)); }

GlobalPath pathOf(Way way) { return GlobalPath(uint8_t(way)); }

isa::Tile vectorTile(int64_t rows, int64_t cols, unsigned bytes) {
  isa::Tile tile;
  tile.type = bytes == 4 ? isa::ElementType::f32 : bytes == 2 ? isa::ElementType::f16 : isa::ElementType::i8;
  tile.rows = uint16_t(std::min<int64_t>(rows, UINT16_MAX)), tile.cols = uint16_t(std::min<int64_t>(cols, UINT16_MAX));
  tile.validRows = rows, tile.validCols = cols;
  return tile;
}

/// The row's price where all of its tiles have this shape.
InsnCost priceOf(std::string_view mnemonic, const isa::Tile &tile, const isa::ChipInfo &chip) {
  isa::DecodedInsn insn{};
  insn.opcode = isa::findInsn(mnemonic)->opcode;
  isa::visit(insn, [](auto &typed) { typed = {}; });
  isa::OperandList o(insn);
  for (unsigned i = 0; i < o.numTiles; ++i)
    const_cast<isa::Tile &>(*o.tiles[i]) = tile;
  return costOf(insn, chip);
}

} // namespace

Prices::Prices(std::string_view architecture) : arch(unsigned(isa::findArch(architecture)->arch)) {
  constexpr int64_t run = 1 << 14; // long enough that rounding up to whole repeats does not count
  InsnCost cost = priceOf("tadd", vectorTile(1, run, 4), chipOf(arch));
  chainCycles = cost.head + cost.tail, chainPerElement = cost.work / double(run);
}

double Prices::seconds(double cycles) const { return cycles / chipOf(arch).clock; }

double Prices::launch() const { return chipOf(arch).dispatchSeconds * chipOf(arch).clock; }

double Prices::flag() const { return isa::infoOf(isa::Opcode::SetFlag).cost->work; }

int64_t Prices::vectorCores() const {
  return int64_t(chipOf(arch).blocks) * isa::archInfo(isa::Arch(arch)).vectorCores;
}

double Prices::start(Way way) const { return chipOf(arch).pathStartSeconds[unsigned(way)] * chipOf(arch).clock; }

double Prices::perByte(Way way) const { return 1 / sharedBytesPerCycle(chipOf(arch), pathOf(way)); }

double Prices::readPerByte(Way way, double readers, double hbm) const {
  return secondsPerByte(chipOf(arch), pathOf(way), readers, hbm) * chipOf(arch).clock;
}

double Prices::wholeLines(double bytes) const {
  double line = chipOf(arch).lineBytes;
  return std::ceil(bytes / line) * line;
}

double Prices::extractPerByte(bool right) const {
  return 1 / bytesPerCycle(chipOf(arch), right ? isa::Opcode::TExtractL0b : isa::Opcode::TExtractL0a);
}

double Prices::productHead() const { return isa::infoOf(isa::Opcode::TMatmul).cost->head; }

double Prices::productStep(bool f32) const {
  const isa::Rate &rate = *isa::infoOf(isa::Opcode::TMatmul).cost;
  return f32 ? rate.more : rate.work;
}

double Prices::foldedRows(int64_t rows, int64_t cols, unsigned bytes) const {
  double cycles = 0;
  for (int64_t count = rows, half; count > 1; count = half) {
    half = int64_t(std::bit_ceil(uint64_t(count)) / 2);
    cycles += vector("tadd", count - half, cols, bytes);
    if (count == rows && count != 2 * half)
      cycles += vector("tmov", 2 * half - count, cols, bytes);
  }
  return cycles;
}

double Prices::vector(std::string_view mnemonic, int64_t rows, int64_t cols, unsigned bytes) const {
  InsnCost cost = priceOf(mnemonic, vectorTile(rows, cols, bytes), chipOf(arch));
  return cost.head + cost.work + cost.tail;
}

} // namespace pto_mlir::cost
