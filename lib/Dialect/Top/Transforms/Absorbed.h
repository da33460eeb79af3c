// Tensor names that a rewrite removes from the graph.
#ifndef PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_ABSORBED_H
#define PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_ABSORBED_H

#include "mlir/IR/PatternMatch.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "llvm/ADT/SetVector.h"

namespace pto_mlir::top {

/// Collects absorbed names while patterns run; `commit` appends them to the module's `top.absorbed`. Names are interned
/// in the context.
class Absorbed {
public:
  void add(mlir::Location loc) {
    if (llvm::StringRef name = getTensorName(loc); !name.empty())
      names.insert(name);
  }
  void commit(mlir::Operation *module) { addAbsorbed(module, names.getArrayRef()); }

private:
  llvm::SetVector<llvm::StringRef> names;
};

/// Base class of patterns that may absorb names.
template <typename OpTy> struct AbsorbingPattern : public mlir::OpRewritePattern<OpTy> {
  AbsorbingPattern(mlir::MLIRContext *context, Absorbed &absorbed)
      : mlir::OpRewritePattern<OpTy>(context), absorbed(absorbed) {}
  Absorbed &absorbed;
};

} // namespace pto_mlir::top

#endif // PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_ABSORBED_H
