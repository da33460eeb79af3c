// An op as a call of a kernel.
#ifndef PTO_MLIR_LIB_CONVERSION_TOVM_CALLS_H
#define PTO_MLIR_LIB_CONVERSION_TOVM_CALLS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "pto_mlir/Dialect/VM/IR/VMProgram.h"

namespace pto_mlir {

/// `op` as `vm.call @<place>.<its mnemonic>` with its operands and results. Attributes that a kernel's name can hold
/// (numbers, texts, lists of numbers) go along; any other one is a failure.
mlir::FailureOr<vm::CallOp> replaceWithCall(mlir::RewriterBase &rewriter, mlir::Operation *op, llvm::StringRef place,
                                            llvm::ArrayRef<mlir::StringRef> ignoredAttributes = {});

/// The constant of a type that the VM has.
mlir::Value makeConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::TypedAttr value);

/// Gives `convert` every op of the module that has `dialect` for its namespace, as they stood at first. One op becomes
/// one, nothing folds: a conversion shows what the program was.
void forEachOp(mlir::ModuleOp module, llvm::StringRef dialect,
               llvm::function_ref<void(mlir::Operation *, mlir::RewriterBase &)> convert);

/// Numbers the VM computes with.
bool isVMNumber(mlir::Type type);

} // namespace pto_mlir

#endif
