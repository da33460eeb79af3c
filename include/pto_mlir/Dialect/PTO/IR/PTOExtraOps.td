//===- PTOExtraOps.td - umbrella of the ops that models never use -------------===//
//
// Part of the dialect (PTODialect::registerExtraOps), compiled apart from it: what compiles models does not link them.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOEXTRAOPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOEXTRAOPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOGatherSortOps.td"
include "pto_mlir/Dialect/PTO/IR/PTOScaledOps.td"
include "pto_mlir/Dialect/PTO/IR/PTOEventOps.td"
include "pto_mlir/Dialect/PTO/IR/PTOPipeOps.td"
include "pto_mlir/Dialect/PTO/IR/PTOAsyncOps.td"

#endif
