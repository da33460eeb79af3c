#include "Insns/Insns.h"
#include "Tiles/Indexed.h"

namespace pto_mlir::cmodel {

void execute(const isa::Mscatter &insn, Core &core) {
  LocalTile src = core.tile(insn.src, isa::Memory::UB), indices = core.tile(insn.indices, isa::Memory::UB);
  GlobalView view = core.view(insn.dst);
  if (core.faulted())
    return;
  static constexpr Beyond beyond[] = {Beyond::Fault, Beyond::Leave, Beyond::Clamp, Beyond::Wrap};
  auto scatter = [&]<class T, class F>(F combine) {
    bool byRow = insn.unit == isa::IndexUnit::row;
    forIndexed(core, view, src, indices, byRow, beyond[unsigned(insn.bounds)],
               [&](uint32_t r, uint32_t c, int64_t at, uint32_t run) {
                 for (uint32_t i = 0; at >= 0 && i < run; ++i)
                   combine(reinterpret_cast<T *>(view.base)[at + i], src.row<T>(r)[c + i]);
               });
  };
  bool legal = true;
  if (insn.atomic == isa::ScatterOp::none)
    Carriers::visit(carrier(src.type),
                    [&]<class T>() { scatter.template operator()<T>([](T &to, T from) { to = from; }); });
  else
    legal = Types<float, Half, BFloat, int8_t, int16_t, int32_t, uint32_t>::visit(src.type, [&]<class T>() {
      scatter.template operator()<T>([&](T &to, T from) {
        auto a = load(to), b = load(from);
        to = store<T>(insn.atomic == isa::ScatterOp::add   ? Add()(a, b)
                      : insn.atomic == isa::ScatterOp::max ? Max()(a, b)
                                                           : Min()(a, b));
      });
    });
  if (!legal)
    illegalType(core, src.type);
  core.counters.bytesWritten += uint64_t(src.validRows) * src.validCols * src.bytes;
}

} // namespace pto_mlir::cmodel
