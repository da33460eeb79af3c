#include "Insns/Insns.h"
#include "Tiles/Mask.h"

namespace pto_mlir::cmodel {

void execute(const isa::TCmp &insn, Core &core) {
  LocalTile mask = core.wholeTile(insn.dst, isa::Memory::UB);
  LocalTile a = core.tile(insn.src0, isa::Memory::UB), b = core.tile(insn.src1, isa::Memory::UB);
  if (core.faulted() || !sameShape(core, a, {&b}) || !maskFits(core, mask, a.validRows, a.validCols))
    return;
  bool legal = Comparable::visit(a.type, [&]<class T>() {
    withRelation(insn.mode, [&](auto relation) {
      for (uint32_t r = 0; r < a.validRows; ++r) {
        const T *x = a.row<T>(r), *y = b.row<T>(r);
        packRow(maskRow(mask, r), a.validCols, mask.bytes, [&](uint32_t c, uint32_t n) __attribute__((always_inline)) {
          return relation(loadEight(x + c, n), loadEight(y + c, n));
        });
      }
    });
  });
  legal = legal || visitWide<Comparable>(a.type, [&]<class W>() {
            withRelation(insn.mode, [&](auto relation) {
              packSlowly(mask, a.validRows, a.validCols,
                         [&](uint32_t r, uint32_t c) { return relation(getWide<W>(a, r, c), getWide<W>(b, r, c)); });
            });
          });
  if (!legal)
    illegalType(core, a.type);
}

} // namespace pto_mlir::cmodel
