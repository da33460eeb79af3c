// Names that nothing else has.
#ifndef PTO_MLIR_SUPPORT_FREENAME_H
#define PTO_MLIR_SUPPORT_FREENAME_H

#include <string>

namespace pto_mlir {

/// `base`, or the first of base_1, base_2, .. that is not taken; `first`: the number with which these begin.
template <class IsTaken> std::string freeName(const std::string &base, IsTaken isTaken, unsigned first = 1) {
  std::string name = base;
  for (unsigned next = first; isTaken(name); ++next)
    name = base + "_" + std::to_string(next);
  return name;
}

} // namespace pto_mlir

#endif // PTO_MLIR_SUPPORT_FREENAME_H
