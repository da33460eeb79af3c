//===- PTO.h - the pto dialect ----------------------------------------*- C++ -*-===//
//
// Tiles, memory spaces and pipes. The text of the dialect is the `.pto` language.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTO_H
#define PTO_MLIR_DIALECT_PTO_IR_PTO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "pto_mlir/Dialect/PTO/IR/PTOTraits.h"

#include "pto_mlir/Dialect/PTO/IR/PTODialect.h.inc"
#include "pto_mlir/Dialect/PTO/IR/PTOEnums.h.inc"

namespace pto_mlir::pto {
/// The engine that carries out on `target` what belongs to `pipe`: another one where the target lacks that engine.
Pipe pipeOn(const Target &target, Pipe pipe);
/// The engine that carries out an op with PipeOpInterface on its target.
Pipe pipeOf(mlir::Operation *op);

/// On a kernel's function or module: `#pto.kernel_kind<..>`, the kind of core that runs it.
inline constexpr llvm::StringLiteral kKernelKindAttr = "pto.kernel_kind";
/// `#pto.pipe<..>`: on a function the engine whose ops it holds; on fifo_pop, before slicing, the engine that takes the
/// value.
inline constexpr llvm::StringLiteral kPipeAttr = "pto.pipe";
/// Row and column at which a subset or subview begins in its source; nothing for other ops.
std::optional<std::pair<mlir::Value, mlir::Value>> getPartBegin(mlir::Operation *op);

} // namespace pto_mlir::pto

#define GET_ATTRDEF_CLASSES
#include "pto_mlir/Dialect/PTO/IR/PTOAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "pto_mlir/Dialect/PTO/IR/PTOTypes.h.inc"

#include "pto_mlir/Dialect/PTO/IR/PTOInterfaces.h.inc"

#define GET_OP_CLASSES
#include "pto_mlir/Dialect/PTO/IR/PTOOps.h.inc"

namespace pto_mlir::pto {
/// On a kernel of one kind of core: the kernel that it is a part of, if it is one of two.
inline constexpr llvm::StringLiteral kPartOfAttr = "pto.part_of";
/// On a vector kernel that works on a part of its arguments, for the vector cores of one block: it is made part of
/// another kernel.
inline constexpr llvm::StringLiteral kPanelAttr = "pto.panel";
/// On such a kernel: for each argument the elements from one row to the next, 0 where rows follow each other.
inline constexpr llvm::StringLiteral kPitchesAttr = "pto.pitches";

/// On an argument of a kernel on tensors: its extents as functions of the launch's scalars, an affine map; the type
/// has those of the greatest values.
inline constexpr llvm::StringLiteral kSizesAttr = "pto.sizes";
/// On a kernel with such arguments: the greatest value of each scalar.
inline constexpr llvm::StringLiteral kGreatestSizesAttr = "pto.greatest_sizes";
/// And the least one.
inline constexpr llvm::StringLiteral kLeastSizesAttr = "pto.least_sizes";
/// On such a vector kernel while it is tiled: the greatest extent of the dimension that is known at run time.
inline constexpr llvm::StringLiteral kGreatestRowsAttr = "pto.greatest_rows";

/// The engine that a class of ops stands for (record_event, barrier_sync, get_buf).
Pipe getEventPipe(SyncOpType type);
/// Of a `#pto.pipe_event_type` or `#pto.sync_op_type`.
Pipe getEventPipe(mlir::Attribute type);
} // namespace pto_mlir::pto

#endif
