// The generated op definitions of the top dialect; compiled once per shard (pto_shard_ops).
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "pto_mlir/Dialect/Top/IR/TopOps.cpp.inc"
