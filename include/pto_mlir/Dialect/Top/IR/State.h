// Arguments and results of @main that are state: they live on the device between runs.
//
// A state is an argument, and the result with its new value if a run changes it. Both have the same type.
#ifndef PTO_MLIR_DIALECT_TOP_IR_STATE_H
#define PTO_MLIR_DIALECT_TOP_IR_STATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir::top {

/// Argument attribute of `@main` (i64): the argument is a state, with positions along this axis; -1: every run replaces
/// the whole tensor.
inline constexpr llvm::StringLiteral kStateAxisAttr = "top.state_axis";
/// Result attribute of `@main` (string): the result is the new value of the state of this name.
inline constexpr llvm::StringLiteral kStateOfAttr = "top.state_of";
/// Argument attribute of `@main` (unit): the argument, an i32 of [1], is the position before the run.
inline constexpr llvm::StringLiteral kStatePositionAttr = "top.state_position";
/// Attributes of `@main` (i64): the positions that a run adds, and the greatest position after a run (0 = any).
inline constexpr llvm::StringLiteral kStateRowsAttr = "top.state_rows", kStateLimitAttr = "top.state_limit";
/// Attribute of `@main` of a net that a program calls (string): the group of state, which the program's nets share.
inline constexpr llvm::StringLiteral kStateGroupAttr = "top.state_group";
/// Argument attribute there (string): the name of the state's new value, "" if no net makes one. A state that is
/// replaced whole then has two places in every net, so that all nets lay out the group alike.
inline constexpr llvm::StringLiteral kStateNewAttr = "top.state_new";
/// The name of the position among the inputs.
inline constexpr llvm::StringLiteral kStatePositionName = "state.position";

/// The axis of a state (-1 for one that is replaced whole); nullopt for any other argument.
std::optional<int64_t> stateAxis(mlir::func::FuncOp main, unsigned argument);
/// Whether the argument is a state or the position, hence no input.
bool isStateArgument(mlir::func::FuncOp main, unsigned argument);
/// Whether the value is a state before the run.
bool isState(mlir::Value value);
/// The argument whose new value a result is; nullopt for an output.
std::optional<unsigned> stateOfResult(mlir::func::FuncOp main, unsigned result);
/// Whether `@main` has state.
bool hasState(mlir::func::FuncOp main);
/// Makes the states and the position ordinary arguments, and the new values ordinary results.
void forgetStates(mlir::func::FuncOp main);
/// The number of an argument among the inputs, and of a result among the outputs.
unsigned inputNumber(mlir::func::FuncOp main, unsigned argument);
unsigned outputNumber(mlir::func::FuncOp main, unsigned result);

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_STATE_H
