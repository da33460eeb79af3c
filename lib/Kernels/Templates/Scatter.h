//===- Scatter.h - the two forms of a scatter -------------------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_KERNELS_TEMPLATES_SCATTER_H
#define PTO_MLIR_LIB_KERNELS_TEMPLATES_SCATTER_H

#include "Template.h"

namespace pto_mlir::templates {

struct ScatterArguments {
  Matrix data, updates, out;
  unsigned positions; ///< argument
  llvm::StringRef reduction;
};

/// 0 unless 0 <= at < count.
inline Ix isInside(KernelEmitter &e, Ix at, Ix count) {
  Ix zero = e.constant(0), one = e.constant(1);
  return e.mul(e.max(e.min(e.sub(count, at), one), zero), e.max(e.min(e.add(at, one), one), zero));
}

/// Rows of one element.
void buildElementScatter(KernelEmitter &e, const ScatterArguments &given);

} // namespace pto_mlir::templates

#endif // PTO_MLIR_LIB_KERNELS_TEMPLATES_SCATTER_H
