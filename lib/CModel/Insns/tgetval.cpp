#include "Arithmetic/Element.h"
#include "Insns/Insns.h"

#include <bit>

namespace pto_mlir::cmodel {

// Floats are returned as f32 bits, as Scalar operands expect.
void execute(const isa::TGetval &insn, Core &core) {
  LocalTile src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  int64_t index = insn.index.value, cols = src.cols;
  if (index < 0 || index / cols >= src.validRows || index % cols >= src.validCols)
    return core.fault(FaultKind::OutOfRange, "element " + std::to_string(index) + " of a tile of " +
                                                 std::to_string(src.rows) + "x" + std::to_string(cols) +
                                                 " lies outside its valid region");
  int64_t &dst = core.engine().registers[insn.dst];
  bool legal = Types<float, Half, BFloat>::visit(src.type, [&]<class T>() {
    dst = int64_t(std::bit_cast<uint32_t>(load(src.row<T>(uint32_t(index / cols))[index % cols])));
  });
  legal = legal || Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>::visit(
                       src.type, [&]<class T>() { dst = int64_t(src.row<T>(uint32_t(index / cols))[index % cols]); });
  if (!legal)
    core.fault(FaultKind::IllegalType, std::string("no scalar of type ") + isa::elementName(src.type));
}

} // namespace pto_mlir::cmodel
