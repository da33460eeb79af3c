// Bounds of a net's floats, where its ops give them.
#ifndef PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_FLOATRANGES_H
#define PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_FLOATRANGES_H

#include "mlir/IR/Value.h"
#include <optional>

namespace pto_mlir::top {

struct FloatRange {
  double low, high;
};

/// What the elements of a tensor of floats may be, NaN and infinities aside; nullopt when nothing bounds them.
/// `ofIntegers` gives the bounds of a tensor of integers.
std::optional<FloatRange> floatRange(mlir::Value value, llvm::function_ref<FloatRange(mlir::Value)> ofIntegers);

} // namespace pto_mlir::top

#endif // PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_FLOATRANGES_H
