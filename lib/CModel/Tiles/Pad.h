// Pad values of the element types, as the hardware defines them.
#ifndef PTO_MLIR_CMODEL_PAD_H
#define PTO_MLIR_CMODEL_PAD_H

#include "pto_mlir/ISA/Operands.h"

namespace pto_mlir::cmodel {

/// The bits of a pad value. null and zero: 0. max and min: +inf and -inf of f32, f16 and bf16, the limits of integers
/// of up to 32 bits, and 0 for other types.
inline uint64_t padBits(isa::ElementType type, isa::Pad pad) {
  using isa::ElementType;
  if (pad == isa::Pad::null || pad == isa::Pad::zero)
    return 0;
  bool max = pad == isa::Pad::max;
  switch (type) {
  case ElementType::f32:
    return max ? 0x7f800000u : 0xff800000u;
  case ElementType::f16:
    return max ? 0x7c00u : 0xfc00u;
  case ElementType::bf16:
    return max ? 0x7f80u : 0xff80u;
  case ElementType::i8:
    return max ? 0x7fu : 0x80u;
  case ElementType::i16:
    return max ? 0x7fffu : 0x8000u;
  case ElementType::i32:
    return max ? 0x7fffffffu : 0x80000000u;
  case ElementType::u8:
    return max ? 0xffu : 0u;
  case ElementType::u16:
    return max ? 0xffffu : 0u;
  case ElementType::u32:
    return max ? 0xffffffffu : 0u;
  default:
    return 0;
  }
}

} // namespace pto_mlir::cmodel

#endif
