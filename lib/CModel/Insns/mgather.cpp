#include "Insns/Insns.h"
#include "Tiles/Indexed.h"

#include <cstring>

namespace pto_mlir::cmodel {

void execute(const isa::Mgather &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), indices = core.tile(insn.indices, isa::Memory::UB);
  GlobalView view = core.view(insn.src);
  if (core.faulted())
    return;
  bool byRow = insn.unit == isa::IndexUnit::row;
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    forIndexed(core, view, dst, indices, byRow, gatherBeyond[unsigned(insn.bounds)],
               [&](uint32_t r, uint32_t c, int64_t at, uint32_t run) {
                 T *to = dst.row<T>(r) + c;
                 if (at < 0)
                   std::fill(to, to + run, T(0));
                 else
                   std::memcpy(to, reinterpret_cast<const T *>(view.base) + at, run * sizeof(T));
               });
  });
  core.counters.bytesRead += uint64_t(dst.validRows) * dst.validCols * dst.bytes;
}

} // namespace pto_mlir::cmodel
