#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

bool disjointOrSame(const LocalTile &dst, const LocalTile &src) {
  auto end = [](const LocalTile &t) {
    Lines l = linesOf(t);
    return l.count == 0 ? t.data : t.data + ((l.count - 1) * l.pitch + l.length) * t.bytes;
  };
  if (dst.data == src.data)
    return linesOf(dst).pitch == linesOf(src).pitch || linesOf(dst).count <= 1;
  return src.data >= end(dst) || dst.data >= end(src);
}

bool coverDst(Core &core, const LocalTile &dst, std::initializer_list<const LocalTile *> sources) {
  for (const LocalTile *src : sources)
    if (!src->covers(dst)) {
      core.fault(FaultKind::IllegalShape, "source valid region " + std::to_string(src->validRows) + "x" +
                                              std::to_string(src->validCols) + " is smaller than destination " +
                                              std::to_string(dst.validRows) + "x" + std::to_string(dst.validCols));
      return false;
    }
  return true;
}

bool sameShape(Core &core, const LocalTile &dst, std::initializer_list<const LocalTile *> sources) {
  for (const LocalTile *src : sources)
    if (src->type != dst.type) {
      core.fault(FaultKind::IllegalType, "operands of different element types");
      return false;
    }
  return coverDst(core, dst, sources);
}

void illegalType(Core &core, isa::ElementType type) {
  core.fault(FaultKind::IllegalType, "element type number " + std::to_string(unsigned(type)) + " is not legal here");
}

} // namespace pto_mlir::cmodel
