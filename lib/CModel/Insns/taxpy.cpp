#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TAxpy &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted() || !coverDst(core, dst, {&src}))
    return;
  using Any = Types<float, Half, BFloat>;
  bool legal = Any::visit(dst.type, [&]<class D>() {
    Any::visit(src.type, [&]<class S>() {
      auto s = scalarValue<S>(insn.scalar.value);
      // The product is rounded to dst's type first.
      auto sum = [s](auto d, auto x) { return d + load(store<D>(x * s)); };
      auto line = [&](D *d, const S *x, size_t n) {
        if constexpr (std::is_same_v<D, S>)
          return mapLine(sum, d, n, d, x);
        for (size_t at = 0; at < n; at += lineChunk) {
          size_t count = std::min(lineChunk, n - at);
          Widened<S> wide(x + at, count);
          forBlocks(count, [&](size_t i) { d[at + i] = store<D>(sum(load(d[at + i]), load(wide.data[i]))); });
        }
      };
      bool ordered = !disjointOrSame(dst, src);
      for (uint32_t r = 0; r < dst.validRows; ++r)
        for (uint32_t c = 0, n = ordered ? 1 : dst.validCols; c < dst.validCols; c += n)
          line(dst.row<D>(r) + c, src.row<S>(r) + c, n);
    });
  });
  if (!legal)
    illegalType(core, dst.type);
}

} // namespace pto_mlir::cmodel
