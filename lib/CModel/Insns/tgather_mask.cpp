#include "Insns/Insns.h"
#include "Tiles/Map.h"
#include "Tiles/Pattern.h"

#include <cstring>

namespace pto_mlir::cmodel {

namespace {

// Selected rows are stored contiguously in dst.
void gatherRows(const isa::TGatherMask &insn, Core &core, const LocalTile &dst, const LocalTile &src) {
  uint32_t count = pickedOf(insn.pattern, src.validRows);
  if (count > dst.rows || src.validCols > dst.cols)
    return core.fault(FaultKind::IllegalShape, "dst has no room for " + std::to_string(count) + " rows of " +
                                                   std::to_string(src.validCols) + " elements");
  for (uint32_t r = 0, to = 0; r < src.validRows; ++r)
    if (picks(insn.pattern, r))
      std::memmove(dst.data + size_t(to++) * dst.cols * dst.bytes, src.data + size_t(r) * src.cols * src.bytes,
                   size_t(src.validCols) * src.bytes);
}

} // namespace

// Selected elements of every group of 2 or 4 are stored contiguously from the start of dst.
void execute(const isa::TGatherMask &insn, Core &core) {
  LocalTile dst = core.wholeTile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  if (insn.axis == isa::PatternAxis::rows)
    return gatherRows(insn, core, dst, src);
  uint64_t count = pickedOf(insn.pattern, src.validCols);
  if (src.type != dst.type || count * src.validRows > uint64_t(dst.rows) * dst.cols)
    return core.fault(FaultKind::IllegalShape,
                      "dst has no room for " + std::to_string(count * src.validRows) + " elements of src's type");
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    T *to = dst.as<T>();
    auto [first, step] = pickedBy(insn.pattern);
    for (uint32_t r = 0; r < src.validRows; ++r) {
      const T *from = src.row<T>(r);
      for (uint32_t c = first, n = src.validCols; c < n; c += step)
        *to++ = from[c];
    }
  });
}

} // namespace pto_mlir::cmodel
