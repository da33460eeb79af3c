#include "Insns/Insns.h"
#include "Tiles/Map.h"

#include <cstring>
#include <vector>

namespace pto_mlir::cmodel {

// Merges every four adjacent sorted blocks into one; ties keep the order of the blocks.
void execute(const isa::TMrgsort &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  int64_t block = insn.blockLength.value;
  uint32_t width = 8 / src.bytes;
  if (src.type != dst.type || src.validRows != 1 || dst.validCols < src.validCols || block <= 0 || block % width ||
      block > src.validCols)
    return core.fault(FaultKind::IllegalShape, "blocks of " + std::to_string(block) + " elements in a row of " +
                                                   std::to_string(src.validCols) + " elements, whose records have " +
                                                   std::to_string(width));
  bool legal = Floats::visit(src.type, [&]<class T>() {
    std::vector<T> row(src.as<T>(), src.as<T>() + src.validCols);
    for (int64_t at = 0; at + 4 * block <= int64_t(src.validCols); at += 4 * block) {
      int64_t next[4] = {};
      T *to = dst.as<T>() + at;
      for (int64_t left = 4 * block; left > 0; left -= width, to += width) {
        int best = -1;
        for (int list = 0; list < 4; ++list)
          if (next[list] < block && (best < 0 || load(row[size_t(at + list * block + next[list])]) >
                                                     load(row[size_t(at + best * block + next[best])])))
            best = list;
        std::memcpy(to, &row[size_t(at + best * block + next[best])], 8);
        next[best] += width;
      }
    }
  });
  if (!legal)
    illegalType(core, src.type);
}

} // namespace pto_mlir::cmodel
