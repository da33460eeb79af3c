//===- SyncSharing.h - orders that use the same events ----------------------*- C++ -*-===//
//
// Orders of one kind between two engines, in blocks of which only one is executed or one comes after the other, can use
// the same events. docs/rationale-sync.md, "When events run out".
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_SYNCSHARING_H
#define PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_SYNCSHARING_H

#include "SyncPlan.h"

#include <set>

namespace pto_mlir::pto {

using PipePair = std::pair<Pipe, Pipe>;

/// The pairs of engines between which there are orders.
std::set<PipePair> getPairs(const OrdersByBlock &blocks);

/// Events that the orders from pair.first to pair.second take.
int eventsOf(const OrdersByBlock &blocks, PipePair pair);

/// Lets orders share events until no pair takes more than `limit` of it, each step proven. False, and no order shares,
/// when that is not enough.
bool shareEvents(mlir::func::FuncOp func, const std::vector<EngineOp> &ops, const SyncConflicts &conflicts,
                 OrdersByBlock &blocks, llvm::function_ref<int(PipePair)> limit);

} // namespace pto_mlir::pto

#endif
