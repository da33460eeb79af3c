#include "Indexed.h"
#include "Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::Mgather &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), indices = core.tile(insn.indices, isa::Memory::UB);
  GlobalView view = core.view(insn.src);
  if (core.faulted())
    return;
  static constexpr Beyond beyond[] = {Beyond::Fault, Beyond::Clamp, Beyond::Wrap, Beyond::Leave};
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    forIndexed(core, view, dst, indices, insn.unit == isa::IndexUnit::row, beyond[unsigned(insn.bounds)],
               [&](uint32_t r, uint32_t c, int64_t at) { dst.row<T>(r)[c] = at < 0 ? T(0) : reinterpret_cast<const T *>(view.base)[at]; });
  });
  core.counters.bytesRead += uint64_t(dst.validRows) * dst.validCols * dst.bytes;
}

} // namespace pto_mlir::cmodel
