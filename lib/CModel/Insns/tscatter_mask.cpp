#include "Insns/Insns.h"
#include "Tiles/Map.h"
#include "Tiles/Pattern.h"

namespace pto_mlir::cmodel {

void execute(const isa::TScatterMask &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.wholeTile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  bool byRows = insn.axis == isa::PatternAxis::rows;
  uint64_t needed = byRows ? uint64_t(pickedOf(insn.pattern, dst.validRows))
                           : uint64_t(pickedOf(insn.pattern, dst.validCols)) * dst.validRows;
  if (byRows ? needed > src.rows || dst.validCols > src.cols : needed > uint64_t(src.rows) * src.cols)
    return core.fault(FaultKind::IllegalShape,
                      "src has fewer than " + std::to_string(needed) + (byRows ? " rows" : " elements"));
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    const T *next = src.as<T>();
    for (uint32_t r = 0, row = 0; r < dst.validRows; ++r) {
      T *d = dst.row<T>(r);
      bool whole = byRows && picks(insn.pattern, r);
      for (uint32_t c = 0; c < dst.validCols; ++c)
        d[c] = byRows ? (whole ? src.row<T>(row)[c] : T(0)) : picks(insn.pattern, c) ? *next++ : T(0);
      row += whole;
    }
  });
}

} // namespace pto_mlir::cmodel
