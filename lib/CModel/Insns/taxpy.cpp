#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TAxpy &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  if (src.validRows < dst.validRows || src.validCols < dst.validCols)
    return core.fault(FaultKind::IllegalShape, "the source's valid region is smaller than the destination's");
  using Any = Types<float, Half, BFloat>;
  bool legal = Any::visit(dst.type, [&]<class D>() {
    Any::visit(src.type, [&]<class S>() {
      auto s = scalarValue<S>(insn.scalar.value);
      for (uint32_t r = 0; r < dst.validRows; ++r)
        for (uint32_t c = 0; c < dst.validCols; ++c) {
          D &d = dst.row<D>(r)[c];
          d = store<D>(load(d) + load(store<D>(load(src.row<S>(r)[c]) * s)));
        }
    });
  });
  if (!legal)
    illegalType(core, dst.type);
}

} // namespace pto_mlir::cmodel
