// Assignment of slots to the values of a function.
#ifndef PTO_MLIR_LIB_DIALECT_VM_TRANSFORMS_SLOTS_H
#define PTO_MLIR_LIB_DIALECT_VM_TRANSFORMS_SLOTS_H

#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace pto_mlir::vm {

/// The slot of each value of a function, and the types of the slots.
struct Slots {
  llvm::DenseMap<mlir::Value, unsigned> of;
  llvm::SmallVector<mlir::Type> types; // of each slot

  /// Whether a value is a constant, which is pushed by an immediate and needs no slot.
  static bool isConstant(mlir::Value value);
};

/// Assigns one slot per value in order of definition; constants are numbered too.
Slots numberSlots(mlir::Region &body);

/// Shares slots between values of one type whose live ranges do not overlap. Entry arguments come first; constants get
/// no slot.
Slots allocateSlots(mlir::Region &body);

} // namespace pto_mlir::vm

#endif
