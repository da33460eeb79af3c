#include "Insns/Insns.h"
#include "Tiles/Map.h"

#include <cstring>

namespace pto_mlir::cmodel {

namespace {

// Maps scores to integers in descending order; -0 equals 0. NaN sorts first or last, depending on its sign.
int32_t orderOf(float score) {
  auto bits = std::bit_cast<int32_t>(score + 0.0f);
  return ~(bits < 0 ? bits ^ 0x7fffffff : bits);
}

// Computes the sorted position of each key: the number of keys that precede it.
void rank(const int64_t (&keys)[32], uint32_t n, uint32_t (&place)[32]) {
  for (uint32_t i = 0; i < n; ++i) {
    int64_t key = keys[i], before = 0;
    for (int64_t j = 0; j < 32; ++j) // stable: equal keys keep their order
      before += int64_t(keys[j] < key) | (int64_t(keys[j] == key) & int64_t(j < int64_t(i)));
    place[i] = uint32_t(before);
  }
}

} // namespace

// Sorts groups of 32 elements of a row by descending score into records of (score, index); f16: score, padding, index
// in two halves. A single row of indices serves all rows (pto-isa, TSORT32_IMPL: stride 0).
void execute(const isa::TSort32 &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  LocalTile indices = core.tile(insn.indices, isa::Memory::UB);
  if (core.faulted())
    return;
  uint32_t width = 8 / src.bytes; // of a record, in elements
  if (src.type != dst.type || dst.validRows < src.validRows || dst.validCols < src.validCols * width)
    return core.fault(FaultKind::IllegalShape,
                      "dst has no room for a record of " + std::to_string(width) + " elements for each element of src");
  bool shared = indices.validRows == 1;
  if ((!shared && indices.validRows < src.validRows) || indices.validCols < src.validCols)
    return core.fault(FaultKind::IllegalShape, "there are fewer indices than elements of src");
  bool legal = Floats::visit(src.type, [&]<class T>() {
    for (uint32_t r = 0; r < src.validRows; ++r)
      for (uint32_t c = 0; c < src.validCols; c += 32) {
        uint32_t n = std::min(32u, src.validCols - c);
        int64_t keys[32];
        std::fill(keys, keys + 32, INT64_MAX);
        uint64_t records[32];
        uint32_t place[32];
        for (uint32_t i = 0; i < n; ++i) {
          T score = src.row<T>(r)[c + i];
          uint32_t index = indices.row<uint32_t>(shared ? 0 : r)[c + i];
          keys[i] = int64_t(uint64_t(uint32_t(orderOf(load(score)))) << 32 | index);
          records[i] = uint64_t(std::bit_cast<std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>(score)) |
                       uint64_t(index) << 32;
        }
        rank(keys, n, place);
        auto *to = reinterpret_cast<uint8_t *>(dst.row<T>(r) + c * width);
        for (uint32_t i = 0; i < n; ++i)
          std::memcpy(to + 8 * place[i], &records[i], 8);
      }
  });
  if (!legal)
    illegalType(core, src.type);
}

} // namespace pto_mlir::cmodel
