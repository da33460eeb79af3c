#include "Arithmetic/Element.h"
#include "Insns/Insns.h"

#include <cstring>

namespace pto_mlir::cmodel {

void execute(const isa::StoreScalar &insn, Core &core) {
  GlobalView view = core.view(insn.dst);
  if (core.faulted())
    return;
  if (!view.contains(0, 1, 0, 1, 0))
    return core.fault(FaultKind::OutOfRange, "the element lies outside the argument");
  using All = Types<float, Half, BFloat, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>;
  bool legal = All::visit(view.type, [&]<class T>() {
    T value = store<T>(scalarValue<T>(insn.value.value));
    std::memcpy(view.base, &value, sizeof value);
  });
  legal = legal || Types<int64_t, uint64_t>::visit(
                       view.type, [&]<class T>() { std::memcpy(view.base, &insn.value.value, sizeof(T)); });
  if (!legal)
    return core.fault(FaultKind::IllegalType, std::string("no scalar of type ") + isa::elementName(view.type));
  core.counters.bytesWritten += view.bytes;
}

} // namespace pto_mlir::cmodel
