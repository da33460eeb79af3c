#include "Tiles/Mask.h"

namespace pto_mlir::cmodel {

bool maskFits(Core &core, const LocalTile &mask, uint32_t rows, uint32_t cols) {
  if (mask.rows >= rows && mask.cols * mask.bytes * 8 >= cols)
    return true;
  core.fault(FaultKind::IllegalShape, "a mask tile of " + std::to_string(mask.rows) + "x" + std::to_string(mask.cols) +
                                          " " + isa::elementName(mask.type) + " is too small for " +
                                          std::to_string(rows) + "x" + std::to_string(cols) + " bits");
  return false;
}

} // namespace pto_mlir::cmodel
