#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TPairreducesum &insn, Core &core) {
  LocalTile dst = core.wholeTile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted() || !sameShape(core, dst, {&src}))
    return;
  Floats::visit(dst.type, [&]<class T>() {
    uint32_t pairs = dst.validCols / 2;
    for (uint32_t r = 0; r < dst.rows; ++r) {
      T *d = dst.row<T>(r);
      uint32_t written = 0;
      if (r < dst.validRows) {
        const T *x = src.row<T>(r); // dst may be src: a pair is read before its sum overwrites it
        for (; written < pairs; ++written)
          d[written] = store<T>(load(x[2 * written]) + load(x[2 * written + 1]));
        if (dst.validCols % 2)
          d[written] = x[2 * written], ++written;
      }
      std::fill_n(d + written, dst.cols - written, T());
    }
  });
}

} // namespace pto_mlir::cmodel
