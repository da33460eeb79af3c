//===- QuantisedProducts.h - products of stored integers --------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_QUANTISEDPRODUCTS_H
#define PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_QUANTISEDPRODUCTS_H

#include "pto_mlir/Dialect/Top/IR/Top.h"

namespace pto_mlir::top_to_linalg {

/// A top.conv or top.matmul of quantised operands, which already are the stored integers.
struct QuantisedProduct {
  mlir::Operation *op;
  mlir::quant::QuantizedType left, right, result;
  mlir::Operation *relu; ///< a top.relu, the only user of the result, which it goes with; null for none
};

/// Emits the product with sums of i32 and what requantises them; returns the stored integers of the result (of `relu`),
/// named as it. Errors on the op where the chip has no exact form.
mlir::FailureOr<mlir::Value> lowerProduct(mlir::OpBuilder &builder, const QuantisedProduct &product);

} // namespace pto_mlir::top_to_linalg

#endif // PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_QUANTISEDPRODUCTS_H
