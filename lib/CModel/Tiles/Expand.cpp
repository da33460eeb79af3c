#include "Tiles/Expand.h"

namespace pto_mlir::cmodel {

bool expandShapes(Core &core, const LocalTile &dst, const LocalTile *big, const LocalTile &small, bool perRow) {
  if (big && !sameShape(core, dst, {big}))
    return false;
  if (small.type != dst.type) {
    core.fault(FaultKind::IllegalType, "operands of different element types");
    return false;
  }
  if (perRow ? small.validRows >= dst.validRows && small.validCols >= 1
             : small.validCols >= dst.validCols && small.validRows >= 1)
    return true;
  if (dst.validRows == 0 || dst.validCols == 0)
    return false; // nothing to do
  core.fault(FaultKind::IllegalShape, "an operand of " + std::to_string(small.validRows) + "x" +
                                          std::to_string(small.validCols) + " cannot be expanded to " +
                                          std::to_string(dst.validRows) + "x" + std::to_string(dst.validCols));
  return false;
}

} // namespace pto_mlir::cmodel
