#include "Insns/Insns.h"
#include "Tiles/Indexed.h"

#include <cstring>

namespace pto_mlir::cmodel {

void execute(const isa::MgatherL1 &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::L1);
  GlobalView view = core.view(insn.src), indices = core.view(insn.indices);
  if (core.faulted())
    return;
  bool byRow = insn.unit == isa::IndexUnit::row;
  auto indexAt = [&](uint32_t r, uint32_t c) -> int64_t {
    int64_t at = indices.offset(r, c);
    if (indices.contains(at, 1, 0, 1, 0))
      return loadWide<int64_t>(indices.type, indices.base + at * indices.bytes);
    core.fault(FaultKind::OutOfRange,
               "index (" + std::to_string(r) + ", " + std::to_string(c) + ") lies outside the argument");
    return 0;
  };
  uint32_t c0 = 32 / dst.bytes;
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    IndexShape shape{indices.rows(), indices.cols()};
    forIndexed(core, view, dst, shape, indexAt, byRow, gatherBeyond[unsigned(insn.bounds)],
               [&](uint32_t r, uint32_t c, int64_t at, uint32_t run) {
                 const T *from = at < 0 ? nullptr : reinterpret_cast<const T *>(view.base) + at;
                 for (uint32_t i = 0; i < run;) { // split at the end of each column group
                   uint32_t n = std::min(run - i, c0 - (c + i) % c0);
                   T *to = dst.as<T>() + dst.offset(r, c + i);
                   if (from)
                     std::memcpy(to, from + i, n * sizeof(T));
                   else
                     std::fill(to, to + n, T(0));
                   i += n;
                 }
               });
    if (uint32_t rest = dst.validCols % c0; rest && !core.faulted())
      for (uint32_t r = 0; r < dst.validRows; ++r)
        std::fill_n(dst.as<T>() + dst.offset(r, dst.validCols), c0 - rest, T(0));
  });
  core.counters.bytesRead += uint64_t(dst.validRows) * dst.validCols * dst.bytes;
}

} // namespace pto_mlir::cmodel
