//===- PTO.h - the pto dialect ----------------------------------------*- C++ -*-===//
//
// Tiles, memory spaces and pipes. The text of the dialect is the `.pto` language.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTO_H
#define PTO_MLIR_DIALECT_PTO_IR_PTO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "pto_mlir/Dialect/PTO/IR/PTOTraits.h"

#include "pto_mlir/Dialect/PTO/IR/PTODialect.h.inc"
#include "pto_mlir/Dialect/PTO/IR/PTOEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "pto_mlir/Dialect/PTO/IR/PTOAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "pto_mlir/Dialect/PTO/IR/PTOTypes.h.inc"

#include "pto_mlir/Dialect/PTO/IR/PTOInterfaces.h.inc"

#define GET_OP_CLASSES
#include "pto_mlir/Dialect/PTO/IR/PTOOps.h.inc"

#endif
