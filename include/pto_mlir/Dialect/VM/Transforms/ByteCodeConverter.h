// Conversion of vm.func to bytecode (docs/pmodel-format.md, VM bytecode).
#ifndef PTO_MLIR_DIALECT_VM_TRANSFORMS_BYTECODECONVERTER_H
#define PTO_MLIR_DIALECT_VM_TRANSFORMS_BYTECODECONVERTER_H

#include "pto_mlir/Dialect/VM/IR/VM.h"
#include "pto_mlir/PModel/Model.h"
#include <optional>

namespace pto_mlir::vm {

/// The size that a sum of products of symbols and constants is; nullopt for another expression.
std::optional<bytecode::Size> sizeOf(mlir::AffineExpr expr);

/// Converts one host program to bytecode: a slot per buffer, an instruction per op.
class ByteCodeConverter {
public:
  /// `kernels`: the kernels of the file, among which device calls are resolved by name.
  ByteCodeConverter(FuncOp function, llvm::ArrayRef<pmodel::KernelDesc> kernels, llvm::StringRef target)
      : function(function), kernels(kernels), target(target) {}

  /// Returns nullopt, with an error at the call, if a callee is not among the kernels.
  std::optional<pmodel::ProgramDesc> convert();

private:
  FuncOp function;
  llvm::ArrayRef<pmodel::KernelDesc> kernels;
  llvm::StringRef target;
};

} // namespace pto_mlir::vm

#endif
