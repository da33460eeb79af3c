#include "Arithmetic/Element.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMovBt &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::BT), src = core.wholeTile(insn.src, isa::Memory::L1);
  if (core.faulted())
    return;
  int64_t col = insn.col.value;
  if (col < 0 || col + dst.validCols > src.cols || dst.validRows > src.rows)
    return core.fault(FaultKind::OutOfRange,
                      "columns from " + std::to_string(col) + " leave the source of " + std::to_string(src.cols));
  auto convert = [&]<class D, class S>() {
    for (uint32_t r = 0; r < dst.validRows; ++r)
      for (uint32_t c = 0; c < dst.validCols; ++c)
        dst.row<D>(r)[c] = D(load(src.row<S>(r)[col + c]));
  };
  if (dst.type == isa::ElementType::f32 && src.type == isa::ElementType::f16)
    convert.operator()<float, Half>();
  else if (dst.type == isa::ElementType::f32 && src.type == isa::ElementType::bf16)
    convert.operator()<float, BFloat>();
  else if (dst.type == src.type && dst.bytes == 4)
    convert.operator()<uint32_t, uint32_t>();
  else
    core.fault(FaultKind::IllegalType,
               std::string("no bias of ") + isa::elementName(dst.type) + " from " + isa::elementName(src.type));
}

} // namespace pto_mlir::cmodel
