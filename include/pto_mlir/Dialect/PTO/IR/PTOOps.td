//===- PTOOps.td - umbrella of the pto dialect ---------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOOPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOOPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOViewOps.td"
include "pto_mlir/Dialect/PTO/IR/PTOTileOps.td"
include "pto_mlir/Dialect/PTO/IR/PTODataMovementOps.td"
include "pto_mlir/Dialect/PTO/IR/PTOCubeOps.td"
include "pto_mlir/Dialect/PTO/IR/PTOElementwiseOps.td"
include "pto_mlir/Dialect/PTO/IR/PTOTileScalarOps.td"
include "pto_mlir/Dialect/PTO/IR/PTOReductionOps.td"
include "pto_mlir/Dialect/PTO/IR/PTOExpandOps.td"
include "pto_mlir/Dialect/PTO/IR/PTOSystemOps.td"
include "pto_mlir/Dialect/PTO/IR/PTOGatherSortOps.td"
include "pto_mlir/Dialect/PTO/IR/PTOScaledOps.td"
include "pto_mlir/Dialect/PTO/IR/PTOEventOps.td"
include "pto_mlir/Dialect/PTO/IR/PTOPipeOps.td"
include "pto_mlir/Dialect/PTO/IR/PTOAsyncOps.td"
include "pto_mlir/Dialect/PTO/IR/PTOCommOps.td"

#endif
