// Slots of a function's values.
#ifndef PTO_MLIR_LIB_DIALECT_VM_TRANSFORMS_SLOTS_H
#define PTO_MLIR_LIB_DIALECT_VM_TRANSFORMS_SLOTS_H

#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace pto_mlir::vm {

struct Slots {
  llvm::DenseMap<mlir::Value, unsigned> of;
  llvm::SmallVector<mlir::Type> types; // of each slot

  /// Whether a value is a constant, which instructions push without a slot.
  static bool isConstant(mlir::Value value);
};

/// One slot per value in order of definition; constants take numbers too.
Slots numberSlots(mlir::Region &body);

/// Values that do not live at the same time and have one type share a slot. Entry arguments come first, constants have
/// none.
Slots allocateSlots(mlir::Region &body);

} // namespace pto_mlir::vm

#endif
