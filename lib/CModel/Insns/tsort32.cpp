#include "Insns.h"
#include "Map.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace pto_mlir::cmodel {

// Records of a score and its index (f16: the score, nothing, the index in two halves), 32 by 32, the greatest score first.
void execute(const isa::TSort32 &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  LocalTile indices = core.tile(insn.indices, isa::Memory::UB);
  if (core.faulted())
    return;
  uint32_t width = 8 / src.bytes; // of a record, in elements
  if (src.type != dst.type || dst.validRows < src.validRows || dst.validCols < src.validCols * width || indices.validRows < src.validRows ||
      indices.validCols < src.validCols)
    return core.fault(FaultKind::IllegalShape, "dst has no room for a record of " + std::to_string(width) + " elements for each element of src");
  bool legal = Floats::visit(src.type, [&]<class T>() {
    for (uint32_t r = 0; r < src.validRows; ++r)
      for (uint32_t c = 0; c < src.validCols; c += 32) {
        uint32_t n = std::min(32u, src.validCols - c);
        std::array<std::pair<T, uint32_t>, 32> records;
        for (uint32_t i = 0; i < n; ++i)
          records[i] = {src.row<T>(r)[c + i], indices.row<uint32_t>(r)[c + i]};
        std::stable_sort(records.begin(), records.begin() + n, [](const auto &a, const auto &b) {
          return load(a.first) != load(b.first) ? load(a.first) > load(b.first) : a.second < b.second;
        });
        for (uint32_t i = 0; i < n; ++i) {
          uint8_t *to = reinterpret_cast<uint8_t *>(dst.row<T>(r) + (c + i) * width);
          std::memset(to, 0, 8);
          std::memcpy(to, &records[i].first, sizeof(T));
          std::memcpy(to + 4, &records[i].second, 4);
        }
      }
  });
  if (!legal)
    illegalType(core, src.type);
}

} // namespace pto_mlir::cmodel
