#include "Insns/Insns.h"
#include "Tiles/Mask.h"

namespace pto_mlir::cmodel {

void execute(const isa::TSels &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), mask = core.wholeTile(insn.mask, isa::Memory::UB);
  LocalTile a = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted() || !sameShape(core, dst, {&a}) || !maskFits(core, mask, dst.validRows, dst.validCols))
    return;
  using Selectable = Types<float, Half, int16_t, uint16_t, int32_t, uint32_t>;
  bool legal = Selectable::visit(dst.type, [&]<class T>() {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>;
    Bits other[32 / sizeof(Bits)];
    std::fill_n(other, std::size(other), std::bit_cast<Bits>(store<T>(scalarValue<T>(insn.scalar.value))));
    for (uint32_t r = 0; r < dst.validRows; ++r)
      selectRow(dst.row<Bits>(r), maskRow(mask, r), a.row<Bits>(r), dst.validCols, [&](uint32_t) { return other; });
  });
  legal = legal || visitWide<Selectable>(dst.type, [&]<class W>() {
            W other = scalarWide<W>(dst.type, insn.scalar.value);
            for (uint32_t r = 0; r < dst.validRows; ++r)
              for (uint32_t c = 0; c < dst.validCols; ++c)
                putWide<W>(dst, r, c, maskRow(mask, r)[c / 8] >> c % 8 & 1 ? getWide<W>(a, r, c) : other);
          });
  if (!legal)
    illegalType(core, dst.type);
}

} // namespace pto_mlir::cmodel
