// The top dialect: dialect class, attributes and ops.
#ifndef PTO_MLIR_DIALECT_TOP_IR_TOP_H
#define PTO_MLIR_DIALECT_TOP_IR_TOP_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/QuantOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pto_mlir/Dialect/Top/IR/Layout.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/NarrowFloats.h"
#include "pto_mlir/Dialect/Top/IR/Quantised.h"
#include "pto_mlir/Dialect/Top/IR/WeightStore.h"

#include "pto_mlir/Dialect/Top/IR/TopEnums.h.inc"

#include "pto_mlir/Dialect/Top/IR/TopDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "pto_mlir/Dialect/Top/IR/TopAttrs.h.inc"

#define GET_OP_CLASSES
#include "pto_mlir/Dialect/Top/IR/TopOps.h.inc"

#endif // PTO_MLIR_DIALECT_TOP_IR_TOP_H
