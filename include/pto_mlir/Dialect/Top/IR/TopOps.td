// The ops of the top dialect (umbrella).
#ifndef PTO_MLIR_DIALECT_TOP_IR_TOPOPS_TD
#define PTO_MLIR_DIALECT_TOP_IR_TOPOPS_TD

include "pto_mlir/Dialect/Top/IR/TopAttrs.td"
include "pto_mlir/Dialect/Top/IR/TopControlOps.td"
include "pto_mlir/Dialect/Top/IR/TopHostOps.td"
include "pto_mlir/Dialect/Top/IR/TopLogicOps.td"
include "pto_mlir/Dialect/Top/IR/TopMathOps.td"
include "pto_mlir/Dialect/Top/IR/TopNNOps.td"
include "pto_mlir/Dialect/Top/IR/TopQuantisedOps.td"
include "pto_mlir/Dialect/Top/IR/TopTensorOps.td"

#endif // PTO_MLIR_DIALECT_TOP_IR_TOPOPS_TD
