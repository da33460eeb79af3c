#include "Insns/Insns.h"
#include "Tiles/Map.h"
#include "Tiles/Pad.h"

namespace pto_mlir::cmodel {

void execute(const isa::TFillpad &insn, Core &core) {
  LocalTile dst = core.wholeTile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  if (dst.type != src.type || src.validRows > dst.rows || src.validCols > dst.cols)
    return core.fault(FaultKind::IllegalShape, "src's valid region does not fit into dst's box");
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    T pad = T(padBits(dst.type, dst.pad));
    for (uint32_t r = 0; r < dst.rows; ++r) {
      uint32_t n = r < src.validRows ? src.validCols : 0;
      if (n > 0)
        std::memmove(dst.row<T>(r), src.row<T>(r), n * sizeof(T));
      std::fill_n(dst.row<T>(r) + n, dst.cols - n, pad);
    }
  });
}

} // namespace pto_mlir::cmodel
