// The generated definitions of pto's ops; compiled once per shard (pto_shard_ops).
#include "VerifyHelpers.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

#include "EventId.h"
#include "PtrSyntax.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "pto_mlir/Dialect/PTO/IR/PTOOps.cpp.inc"
