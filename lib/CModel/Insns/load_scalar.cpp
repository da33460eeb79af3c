#include "Arithmetic/Element.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::LoadScalar &insn, Core &core) {
  GlobalView view = core.view(insn.src);
  if (core.faulted())
    return;
  if (!view.contains(0, 1, 0, 1, 0))
    return core.fault(FaultKind::OutOfRange, "the element lies outside the argument");
  int64_t &dst = core.engine().registers[insn.dst];
  bool legal = Types<float, Half, BFloat>::visit(view.type, [&]<class T>() {
    T value;
    std::memcpy(&value, view.base, sizeof value);
    dst = detail::bitsOf(load(value)); // f32 bits, as Scalar operands expect
  });
  legal = legal || Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>::visit(
                       view.type, [&]<class T>() {
                         T value;
                         std::memcpy(&value, view.base, sizeof value);
                         dst = int64_t(value);
                       });
  if (!legal)
    return core.fault(FaultKind::IllegalType, std::string("no scalar of type ") + isa::elementName(view.type));
  core.counters.bytesRead += view.bytes;
}

} // namespace pto_mlir::cmodel
