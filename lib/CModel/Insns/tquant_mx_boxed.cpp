#include "Arithmetic/QuantiseMx.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TQuantMxBoxed &insn, Core &core) {
  auto ub = [&](const isa::Tile &t) { return core.tile(t, isa::Memory::UB); };
  LocalTile dst = ub(insn.dst), exponents = ub(insn.exponents), boxed = ub(insn.boxed), most = ub(insn.most),
            scaling = ub(insn.scaling);
  LocalTile src = ub(insn.src);
  if (!core.faulted())
    quantiseMx(core, dst, {exponents, most, scaling, &boxed}, src, insn.rule);
}

} // namespace pto_mlir::cmodel
