#include "Arithmetic/Element.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TSetval &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB);
  if (core.faulted())
    return;
  int64_t index = insn.index.value, cols = dst.cols;
  if (index < 0 || index / cols >= dst.validRows || index % cols >= dst.validCols)
    return core.fault(FaultKind::OutOfRange, "element " + std::to_string(index) + " of a tile of " +
                                                 std::to_string(dst.rows) + "x" + std::to_string(cols) +
                                                 " lies outside its valid region");
  using All = Types<float, Half, BFloat, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>;
  bool legal = All::visit(dst.type, [&]<class T>() {
    dst.row<T>(uint32_t(index / cols))[index % cols] = store<T>(scalarValue<T>(insn.value.value));
  });
  if (!legal)
    core.fault(FaultKind::IllegalType, std::string("no scalar of type ") + isa::elementName(dst.type));
}

} // namespace pto_mlir::cmodel
