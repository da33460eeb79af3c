#include "Convert.h"
#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

namespace {

template <class D, class S> void convert(const LocalTile &dst, const LocalTile &src, isa::RoundMode mode, bool saturate) {
  Lines d = linesOf(dst), s = linesOf(src);
  if (d.pitch == d.length && s.pitch == d.pitch)
    return convertLine(dst.as<D>(), src.as<S>(), size_t(d.count) * d.length, mode, saturate);
  for (uint32_t i = 0; i < d.count; ++i)
    convertLine(dst.as<D>() + i * d.pitch, src.as<S>() + i * s.pitch, d.length, mode, saturate);
}

} // namespace

void execute(const isa::TCvt &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  if (src.layout != dst.layout || src.validRows < dst.validRows || src.validCols < dst.validCols)
    return core.fault(FaultKind::IllegalShape, "conversion between different layouts or valid regions");
  bool saturate = insn.saturate == isa::Switch::on;
  using Signed = Types<int8_t, uint8_t, int16_t, int32_t, int64_t>;
  using Real = Types<float, Half, BFloat>;
  // From or to a float, and between the integers of 16 bits and more: a superset of the legal pairs, which the verifier knows.
  bool legal = Real::visit(src.type, [&]<class S>() {
    bool known = Real::visit(dst.type, [&]<class D>() { convert<D, S>(dst, src, insn.rounding, saturate); }) ||
                 Signed::visit(dst.type, [&]<class D>() { convert<D, S>(dst, src, insn.rounding, saturate); });
    if (!known)
      illegalType(core, dst.type);
  });
  legal = legal || Signed::visit(src.type, [&]<class S>() {
    bool known = Real::visit(dst.type, [&]<class D>() { convert<D, S>(dst, src, insn.rounding, saturate); }) ||
                 Types<int16_t, int32_t, int64_t>::visit(dst.type, [&]<class D>() { convert<D, S>(dst, src, insn.rounding, saturate); });
    if (!known)
      illegalType(core, dst.type);
  });
  if (!legal)
    illegalType(core, src.type);
}

} // namespace pto_mlir::cmodel
