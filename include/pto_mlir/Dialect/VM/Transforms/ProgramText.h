// Programs on values -> the assembler's text (docs/vm.md).
#ifndef PTO_MLIR_DIALECT_VM_TRANSFORMS_PROGRAMTEXT_H
#define PTO_MLIR_DIALECT_VM_TRANSFORMS_PROGRAMTEXT_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>

namespace pto_mlir::vm {

struct ProgramTextOptions {
  std::string target = "python";
  /// Share slots by liveness. Otherwise every value has a slot of its own, constants included, in the order of their
  /// definition.
  bool reuseSlots = false;
  /// Write `.loc` lines.
  bool locations = false;
};

/// A module whose functions hold vm ops only; or whose own body does, which then is @main. The first function is the
/// entry. Nothing, with errors at the ops, when something is no instruction.
std::optional<std::string> programText(mlir::ModuleOp module, const ProgramTextOptions &options);

} // namespace pto_mlir::vm

#endif
