// The text as the first PTOCodegen wrote it.
#ifndef PTO_MLIR_LIB_TARGET_PTOTEXT_SEEDSTYLE_H
#define PTO_MLIR_LIB_TARGET_PTOTEXT_SEEDSTYLE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"

namespace pto_mlir::ptotext {

/// Moves constants, then tiles, then views to the beginning of the function, equal constants becoming one, so that
/// tiles take the first numbers. Tiles and views stay where they are when their operands are known only there.
void orderForSeed(mlir::func::FuncOp func);

/// The ops of a function's block in the order in which the seed prints them: views before tiles.
llvm::SmallVector<mlir::Operation *> printedOrder(mlir::Block &block);

/// An op's own text in the seed's spelling: tile types in full, a type behind each operand of `ins` and `outs`, no
/// comma before strides.
std::string seedSpelling(mlir::Operation *op, llvm::StringRef text, mlir::AsmState &names);

} // namespace pto_mlir::ptotext

#endif
