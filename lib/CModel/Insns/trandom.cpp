#include "Insns/Insns.h"
#include "Tiles/Map.h"

#include <array>

namespace pto_mlir::cmodel {

namespace {

using Block = std::array<uint32_t, 4>;

// One block of Philox4x32 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011).
Block philox(Block c, uint32_t key0, uint32_t key1, uint32_t rounds) {
  for (uint32_t i = 0; i < rounds; ++i, key0 += 0x9e3779b9u, key1 += 0xbb67ae85u) {
    uint64_t p = uint64_t(c[0]) * 0xd2511f53u, q = uint64_t(c[2]) * 0xcd9e8d57u;
    c = {uint32_t(q >> 32) ^ c[1] ^ key0, uint32_t(q), uint32_t(p >> 32) ^ c[3] ^ key1, uint32_t(p)};
  }
  return c;
}

Block advance(Block c, uint32_t by) {
  uint64_t carry = by;
  for (uint32_t &word : c) {
    carry += word;
    word = uint32_t(carry);
    carry >>= 32;
  }
  return c;
}

} // namespace

void execute(const isa::TRandom &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB);
  if (core.faulted())
    return;
  if (insn.rounds != 7 && insn.rounds != 10)
    return core.fault(FaultKind::IllegalShape, "the generator has 7 or 10 rounds, not " + std::to_string(insn.rounds));
  Block counter{uint32_t(insn.counter0.value), uint32_t(insn.counter1.value), uint32_t(insn.counter2.value),
                uint32_t(insn.counter3.value)};
  constexpr uint32_t lanes = 64;
  for (uint32_t r = 0; r < dst.validRows; ++r)
    for (uint32_t c = 0; c < dst.validCols; c += 4 * lanes) {
      for (uint32_t l = 0; l < lanes; ++l) {
        Block block = philox(advance(counter, l), uint32_t(insn.key0.value), uint32_t(insn.key1.value), insn.rounds);
        for (uint32_t w = 0; w < 4; ++w)
          if (c + w * lanes + l < dst.validCols)
            dst.row<uint32_t>(r)[c + w * lanes + l] = block[w];
      }
      counter = advance(counter, dst.cols / 4);
    }
}

} // namespace pto_mlir::cmodel
