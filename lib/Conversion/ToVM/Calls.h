// Conversion of ops to kernel calls.
#ifndef PTO_MLIR_LIB_CONVERSION_TOVM_CALLS_H
#define PTO_MLIR_LIB_CONVERSION_TOVM_CALLS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "pto_mlir/Dialect/VM/IR/VMProgram.h"

namespace pto_mlir {

/// Replaces `op` by `vm.call @<place>.<mnemonic>` with its operands and results. Attributes supported by kernel keys
/// (numbers, texts, lists of numbers) are kept; fails on any other attribute that is not ignored.
mlir::FailureOr<vm::CallOp> replaceWithCall(mlir::RewriterBase &rewriter, mlir::Operation *op, llvm::StringRef place,
                                            llvm::ArrayRef<mlir::StringRef> ignoredAttributes = {});

/// Creates a constant of a type supported by the VM.
mlir::Value makeConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::TypedAttr value);

/// Calls `convert` for every op of `dialect` present in the module at the start. No folding and no pattern driver, so
/// that each op is converted one-to-one.
void forEachOp(mlir::ModuleOp module, llvm::StringRef dialect,
               llvm::function_ref<void(mlir::Operation *, mlir::RewriterBase &)> convert);

/// Whether the VM supports arithmetic on the scalar type.
bool isVMNumber(mlir::Type type);

} // namespace pto_mlir

#endif
