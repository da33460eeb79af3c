#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TFusedmuladdrelu &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), a = core.tile(insn.src0, isa::Memory::UB),
            b = core.tile(insn.src1, isa::Memory::UB);
  if (core.faulted() || !sameShape(core, dst, {&a, &b}))
    return;
  bool legal = Floats::visit(dst.type, [&]<class T>() {
    for (uint32_t r = 0; r < dst.validRows; ++r)
      mapLine([](auto a, auto b, auto c) { return Relu()(load(store<T>(a * c)) + b); }, dst.row<T>(r), dst.validCols,
              a.row<T>(r), b.row<T>(r), dst.row<T>(r));
  });
  if (!legal)
    illegalType(core, dst.type);
}

} // namespace pto_mlir::cmodel
