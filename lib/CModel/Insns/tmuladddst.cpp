#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMuladddst &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), a = core.tile(insn.src0, isa::Memory::UB),
            b = core.tile(insn.src1, isa::Memory::UB);
  if (core.faulted() || !sameShape(core, dst, {&a, &b}))
    return;
  bool legal = Floats::visit(dst.type, [&]<class T>() {
    auto line = [](T *d, const T *x, const T *y, size_t n) {
      mapLine([](auto a, auto b, auto c) { return load(store<T>(a * b)) + c; }, d, n, x, y, d);
    };
    if (mapLines<T>(dst, line, a, b))
      return;
    for (uint32_t r = 0; r < dst.validRows; ++r)
      for (uint32_t c = 0; c < dst.validCols; ++c)
        line(&dst.at<T>(r, c), &a.at<T>(r, c), &b.at<T>(r, c), 1);
  });
  if (!legal)
    illegalType(core, dst.type);
}

} // namespace pto_mlir::cmodel
