#include "Insns/Insns.h"
#include "Memory/Transfer.h"
#include "Tiles/Map.h"
#include "Tiles/Transpose.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMov &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted() || !sameShape(core, dst, {&src}))
    return;
  dst.type = src.type = carrier(dst.type);
  auto boxed = [](const LocalTile &t) { return !t.is(isa::Layout::ND) && !t.is(isa::Layout::DN); };
  if (boxed(dst) || boxed(src))
    return extractTile(core, dst, src, 0, 0);
  Lines d = linesOf(dst), s = linesOf(src);
  if (dst.layout != src.layout && dst.data != src.data &&
      disjointOrSame(dst, src)) { // ND to DN or back: a transposition
    Carriers::visit(dst.type,
                    [&]<class T>() { transpose(dst.as<T>(), d.pitch, src.as<T>(), s.pitch, d.length, d.count); });
    return;
  }
  mapUnary<Carriers>(dst, src, core, Identity());
}

} // namespace pto_mlir::cmodel
