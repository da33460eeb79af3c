#include "Insns/Insns.h"
#include "Tiles/Map.h"
#include "Tiles/Transpose.h"

namespace pto_mlir::cmodel {

void execute(const isa::TTrans &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  if (dst.type != src.type || src.validRows < dst.validCols || src.validCols < dst.validRows)
    return core.fault(FaultKind::IllegalShape, "dst is not the transposed of src in type and valid region");
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    transpose(dst.as<T>(), dst.cols, src.as<T>(), src.cols, dst.validCols, dst.validRows);
  });
}

} // namespace pto_mlir::cmodel
