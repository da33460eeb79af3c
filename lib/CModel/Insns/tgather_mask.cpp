#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

// The elements that the pattern picks of every 2 or 4, densely from the start of dst.
void execute(const isa::TGatherMask &insn, Core &core) {
  LocalTile dst = core.wholeTile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  unsigned pattern = unsigned(insn.pattern);
  auto picked = [&](uint32_t c) {
    switch (pattern) {
    case 0: // p0101
      return c % 2 == 0;
    case 1: // p1010
      return c % 2 == 1;
    case 6: // p1111
      return true;
    default: // p0001, p0010, p0100, p1000
      return c % 4 == pattern - 2;
    }
  };
  uint64_t count = 0;
  for (uint32_t c = 0; c < src.validCols; ++c)
    count += picked(c);
  if (src.type != dst.type || count * src.validRows > uint64_t(dst.rows) * dst.cols)
    return core.fault(FaultKind::IllegalShape, "dst has no room for " + std::to_string(count * src.validRows) + " elements of src's type");
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    T *to = dst.as<T>();
    for (uint32_t r = 0; r < src.validRows; ++r)
      for (uint32_t c = 0; c < src.validCols; ++c)
        if (picked(c))
          *to++ = src.row<T>(r)[c];
  });
}

} // namespace pto_mlir::cmodel
