//===- PitchedKernels.h - kernels on rows that lie apart ------------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_KERNELS_INPLACE_PITCHEDKERNELS_H
#define PTO_MLIR_LIB_KERNELS_INPLACE_PITCHEDKERNELS_H

#include "PitchedViews.h"

#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

#include <map>

namespace pto_mlir::kernels {

/// A use of a tensor, or of another shape of it, by a launch.
struct Use {
  top::LaunchOp launch;
  unsigned operand; ///< argument of the kernel
};

/// All uses of a value by launches; nothing where others look at its memory.
std::optional<llvm::SmallVector<Use>> usesOf(mlir::Value value);

/// Whether a launch writes the value to memory that no other value names.
bool hasOwnMemory(mlir::Value value);

/// The kernels that @main launches, and copies of them whose arguments are pitched.
class PitchedKernels {
public:
  PitchedKernels(mlir::ModuleOp module, mlir::func::FuncOp main);

  using Pitches = std::map<unsigned, Pitch>;                   ///< by argument
  using Changes = llvm::MapVector<mlir::Operation *, Pitches>; ///< by launch

  /// Whether the kernel takes rows of `row` elements that lie apart.
  bool allows(Use use, int64_t row);

  /// Has launches launch copies with these pitches; erases kernels without a launch.
  void apply(const Changes &changes);

private:
  mlir::StringAttr pitched(mlir::StringAttr kernel, const Pitches &pitches);

  mlir::func::FuncOp main;
  mlir::SymbolTable symbols;
  llvm::MapVector<mlir::StringAttr, llvm::SmallVector<mlir::func::FuncOp>> parts; ///< of kernels, with their twins
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<PitchedViews>> views;
  std::map<std::tuple<mlir::Operation *, unsigned, int64_t>, bool> known;
  llvm::DenseMap<mlir::StringAttr, std::map<Pitches, mlir::StringAttr>> variants; ///< of a kernel
};

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_INPLACE_PITCHEDKERNELS_H
