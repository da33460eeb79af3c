#include "Insns/Insns.h"
#include "Tiles/Mask.h"

namespace pto_mlir::cmodel {

void execute(const isa::TCmps &insn, Core &core) {
  LocalTile mask = core.wholeTile(insn.dst, isa::Memory::UB), a = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted() || !maskFits(core, mask, a.validRows, a.validCols))
    return;
  bool legal = Comparable::visit(a.type, [&]<class T>() {
    Eight<T> y = splatEight<T>(scalarValue<T>(insn.scalar.value));
    withRelation(insn.mode, [&](auto relation) {
      for (uint32_t r = 0; r < a.validRows; ++r) {
        const T *x = a.row<T>(r);
        packRow(maskRow(mask, r), a.validCols, mask.bytes, [&](uint32_t c, uint32_t n) __attribute__((always_inline)) {
          return relation(loadEight(x + c, n), y);
        });
      }
    });
  });
  legal = legal || visitWide<Comparable>(a.type, [&]<class W>() {
            W y = scalarWide<W>(a.type, insn.scalar.value);
            withRelation(insn.mode, [&](auto relation) {
              packSlowly(mask, a.validRows, a.validCols,
                         [&](uint32_t r, uint32_t c) { return relation(getWide<W>(a, r, c), y); });
            });
          });
  if (!legal)
    illegalType(core, a.type);
}

} // namespace pto_mlir::cmodel
