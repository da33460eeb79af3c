// Translation of SSA programs to the text of the VM assembler (docs/vm.md).
#ifndef PTO_MLIR_DIALECT_VM_TRANSFORMS_PROGRAMTEXT_H
#define PTO_MLIR_DIALECT_VM_TRANSFORMS_PROGRAMTEXT_H

#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pto_mlir::vm {

/// Options of programText. `target` names the kernels' target in the text.
struct ProgramTextOptions {
  std::string target = "python";
  /// Share slots by liveness. Otherwise every value, constants included, has its own slot in order of definition.
  bool reuseSlots = false;
  /// Emit `.loc` lines.
  bool locations = false;
  /// Where the bytes of tensors of more than 1 KiB go instead of into the text, which has them as `external`: by name.
  std::map<std::string, std::vector<uint8_t>> *tensors = nullptr;
};

/// Translates a module whose functions hold vm ops only, or whose own body does, which then is @main. The first
/// function is the entry. Returns nullopt, with errors at the ops, if something has no instruction.
std::optional<std::string> programText(mlir::ModuleOp module, const ProgramTextOptions &options);

} // namespace pto_mlir::vm

#endif
