// The vm dialect: host programs that allocate memory, launch kernels and wait.
#ifndef PTO_MLIR_DIALECT_VM_IR_VM_H
#define PTO_MLIR_DIALECT_VM_IR_VM_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "pto_mlir/Dialect/VM/IR/VMDialect.h.inc"

namespace pto_mlir::vm {
/// Attribute of a net's `vm.func`, and before it of `@main`: the state of the net (vm.func).
inline constexpr llvm::StringLiteral kStateAttr = "vm.state";
/// On a launch: the device that runs it. On the program: bytes at the beginning of the workspace that are zero when a
/// run begins, and by which devices exchange data.
inline constexpr llvm::StringLiteral kRankAttr = "vm.rank", kWindowsAttr = "vm.windows";
/// On a launch: where it stands in a program ("f.py:12:9"); its manual scope and its task (0: none). On the program:
/// pairs of tasks, of which the second one waits for the first one.
inline constexpr llvm::StringLiteral kPlaceAttr = "vm.place", kTaskAttr = "vm.task", kTaskEdgesAttr = "vm.task_edges";
/// Unit attribute of an argument of a program's `@main`: it is the contents with which the output of its name begins.
inline constexpr llvm::StringLiteral kPresetAttr = "vm.preset";
} // namespace pto_mlir::vm

#define GET_TYPEDEF_CLASSES
#include "pto_mlir/Dialect/VM/IR/VMTypes.h.inc"

#define GET_OP_CLASSES
#include "pto_mlir/Dialect/VM/IR/VMOps.h.inc"

#endif
