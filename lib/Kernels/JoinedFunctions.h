//===- JoinedFunctions.h - the functions of joined kernels ------*- C++ -*-===//
//
// A joined kernel is a copy of the product's function with an attribute for each vector kernel beside it
// (cube::kHandoverAttr, cube::kFeedAttr). The attribute names functions for the panels that occur.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_JOINEDFUNCTIONS_H
#define PTO_MLIR_LIB_KERNELS_JOINEDFUNCTIONS_H

#include "JoinEstimate.h"

#include "mlir/IR/SymbolTable.h"

namespace pto_mlir::kernels {

/// A copy of `kernel` without an attribute yet; its name may be changed to be unique.
mlir::func::FuncOp copyKernel(mlir::func::FuncOp kernel, const std::string &name, mlir::SymbolTable &symbols);

/// Makes a vector kernel, whose tiles `panels` computes, follow the product. `few`: the blocks for few rows where their
/// number is known at run time.
void addHandover(mlir::func::FuncOp kernel, const Producer &producer, vector_kernels::Panels &panels,
                 llvm::ArrayRef<cube::FewRows> few, mlir::SymbolTable &symbols);

/// Makes the vector cores compute the left operand, whose rows `panels` computes.
void addFeed(mlir::func::FuncOp kernel, const Producer &producer, vector_kernels::Panels &panels,
             mlir::SymbolTable &symbols);

/// The slots that such kernels have in front of their outputs, for all of `numCores` blocks.
mlir::RankedTensorType handoverSlots(const Producer &producer, int64_t numCores);
mlir::RankedTensorType feedSlots(const Producer &producer, int64_t numCores);

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_JOINEDFUNCTIONS_H
