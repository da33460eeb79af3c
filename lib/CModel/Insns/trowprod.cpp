#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

// Multiplies left to right, rounded to the element type at every step.
void execute(const isa::TRowprod &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  if (src.type != dst.type || src.validRows < dst.validRows || src.validCols == 0 || dst.validCols != 1)
    return core.fault(FaultKind::IllegalShape, "dst is no column for the rows of src");
  bool legal = Standard::visit(dst.type, [&]<class T>() {
    for (uint32_t r = 0; r < dst.validRows; ++r) {
      T product = src.row<T>(r)[0];
      for (uint32_t c = 1; c < src.validCols; ++c)
        product = store<T>(Multiply()(load(product), load(src.row<T>(r)[c])));
      dst.as<T>()[r * rowStep(dst)] = product;
    }
  });
  legal = legal || visitWide<Standard>(dst.type, [&]<class W>() {
            for (uint32_t r = 0; r < dst.validRows; ++r) {
              W product = getWide<W>(src, r, 0);
              for (uint32_t c = 1; c < src.validCols; ++c)
                product = Multiply()(product, getWide<W>(src, r, c));
              storeWide<W>(dst.type, dst.data + r * rowStep(dst) * dst.bytes, product);
            }
          });
  if (!legal)
    illegalType(core, dst.type);
}

} // namespace pto_mlir::cmodel
