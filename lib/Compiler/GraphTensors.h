// Where the tensors of a host program lie that becomes one kernel.
#ifndef PTO_MLIR_LIB_COMPILER_GRAPHTENSORS_H
#define PTO_MLIR_LIB_COMPILER_GRAPHTENSORS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace pto_mlir {

/// The tensors of a host program that decides what it launches (func.func of the vm dialect). Those that loops and
/// branches hand on in one place are a group: its members are numbered, and a number says which one it is at hand.
class GraphTensors {
public:
  /// Failure, with an error, where no bound of a size is known.
  static mlir::FailureOr<GraphTensors> of(mlir::func::FuncOp main);

  struct Group {
    /// Memory for all that the program reserves, a part for each: the first members.
    std::optional<unsigned> slot;
    int64_t part = 0, parts = 0;                      ///< elements of a part; how many there are
    llvm::SmallVector<mlir::BlockArgument> arguments; ///< of the program: the other members
  };
  const Group &groupOf(mlir::Value tensor) const { return groups[groupNumbers.at(tensor)]; }
  /// Of what is reserved the first of its parts; the number of an argument.
  int64_t memberOf(mlir::Value tensor) const { return members.at(tensor); }
  /// What loops have handed on when they come to reserve this tensor again: it has a part more than these.
  llvm::ArrayRef<mlir::BlockArgument> liveAt(mlir::Value reserved) const;

  /// Elements and element type of each slot.
  std::vector<std::pair<int64_t, mlir::Type>> slots;

private:
  void add(mlir::Value tensor, unsigned group);
  mlir::LogicalResult addReserved(mlir::Operation *reserve, unsigned group);
  void findLive(mlir::func::FuncOp main);

  std::vector<Group> groups;
  llvm::DenseMap<mlir::Value, unsigned> groupNumbers;
  llvm::DenseMap<mlir::Value, int64_t> members;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::BlockArgument>> live;
};

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_COMPILER_GRAPHTENSORS_H
