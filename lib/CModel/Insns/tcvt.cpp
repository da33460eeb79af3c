#include "Arithmetic/Convert.h"
#include "Arithmetic/SmallFloat.h"
#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

namespace {

template <class D, class S>
void convert(const LocalTile &dst, const LocalTile &src, isa::RoundMode mode, bool saturate) {
  Lines d = linesOf(dst), s = linesOf(src);
  if (d.pitch == d.length && s.pitch == d.pitch)
    return convertLine(dst.as<D>(), src.as<S>(), size_t(d.count) * d.length, mode, saturate);
  for (uint32_t i = 0; i < d.count; ++i)
    convertLine(dst.as<D>() + i * d.pitch, src.as<S>() + i * s.pitch, d.length, mode, saturate);
}

// Conversion between integer types of any width.
void convertIntegers(const LocalTile &dst, const LocalTile &src, bool saturate) {
  unsigned bits = isa::elementBits(dst.type);
  bool isSigned = dst.type == isa::ElementType::i8 || dst.type == isa::ElementType::i16 ||
                  dst.type == isa::ElementType::i32 || dst.type == isa::ElementType::i64;
  int64_t high = bits == 64 ? INT64_MAX : (int64_t(1) << (bits - isSigned)) - 1, low = isSigned ? -high - 1 : 0;
  for (uint32_t r = 0; r < dst.validRows; ++r)
    for (uint32_t c = 0; c < dst.validCols; ++c) {
      int64_t value = getWide<int64_t>(src, r, c);
      putWide<int64_t>(dst, r, c, saturate ? std::clamp(value, low, high) : value);
    }
}

// Conversions with an 8-bit or 4-bit float on one side: element by element in double, which holds every value of both.
bool convertSmall(const LocalTile &dst, const LocalTile &src, isa::RoundMode mode, bool saturate) {
  if (!isSmall(dst.type) && !isSmall(src.type))
    return false;
  for (uint32_t r = 0; r < dst.validRows; ++r)
    for (uint32_t c = 0; c < dst.validCols; ++c) {
      double value = isSmall(src.type) ? smallAt(src, src.offset(r, c)) : double(getWide<float>(src, r, c));
      if (dst.type == isa::ElementType::i4)
        value = roundTo(float(value), mode);
      if (isSmall(dst.type))
        putSmall(dst, dst.offset(r, c), encodeSmall(dst.type, value, saturate));
      else
        putWide<float>(dst, r, c, float(value));
    }
  return true;
}

} // namespace

void execute(const isa::TCvt &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  if (src.layout != dst.layout || !src.covers(dst))
    return core.fault(FaultKind::IllegalShape, "conversion between different layouts or valid regions");
  bool saturate = insn.saturate == isa::Switch::on;
  if (convertSmall(dst, src, insn.rounding, saturate))
    return;
  using Signed = Types<int8_t, uint8_t, int16_t, int32_t, int64_t>;
  using Real = Types<float, Half, BFloat>;
  // Conversions from or to a float, and between integers: a superset of the legal pairs, which the verifier checks.
  bool legal = Real::visit(src.type, [&]<class S>() {
    bool known = Real::visit(dst.type, [&]<class D>() { convert<D, S>(dst, src, insn.rounding, saturate); }) ||
                 Signed::visit(dst.type, [&]<class D>() { convert<D, S>(dst, src, insn.rounding, saturate); });
    if (!known)
      illegalType(core, dst.type);
  });
  legal = legal || Signed::visit(src.type, [&]<class S>() {
            if (!Real::visit(dst.type, [&]<class D>() { convert<D, S>(dst, src, insn.rounding, saturate); }) &&
                !Types<int16_t, int32_t, int64_t>::visit(
                    dst.type, [&]<class D>() { convert<D, S>(dst, src, insn.rounding, saturate); }))
              convertIntegers(dst, src, saturate);
          });
  if (!legal && !isa::isFloat(src.type) && !isa::isFloat(dst.type)) {
    convertIntegers(dst, src, saturate);
    legal = true;
  }
  if (!legal)
    illegalType(core, src.type);
}

} // namespace pto_mlir::cmodel
