#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TFillpadL1 &insn, Core &core) {
  LocalTile dst = core.wholeTile(insn.dst, isa::Memory::L1), src = core.tile(insn.src, isa::Memory::L1);
  if (core.faulted())
    return;
  bool same = dst.data == src.data && dst.rows == src.rows && dst.cols == src.cols;
  if (src.validRows > dst.rows || src.validCols > dst.cols ||
      (!same && src.data < dst.data + size_t(dst.rows) * dst.cols * dst.bytes && dst.data < src.data + src.extent()))
    return core.fault(FaultKind::IllegalShape,
                      "src's valid region does not fit into dst's box, or the tiles overlap without being one");
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    for (uint32_t r = 0; r < dst.rows; ++r)
      for (uint32_t c = 0; c < dst.cols; ++c)
        dst.at<T>(r, c) = r < src.validRows && c < src.validCols ? T(src.at<T>(r, c)) : T(0);
  });
}

} // namespace pto_mlir::cmodel
