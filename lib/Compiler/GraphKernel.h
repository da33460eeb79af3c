// Several launches of a host program as one kernel.
#ifndef PTO_MLIR_LIB_COMPILER_GRAPHKERNEL_H
#define PTO_MLIR_LIB_COMPILER_GRAPHKERNEL_H

#include "GraphTensors.h"

#include "mlir/IR/Builders.h"

#include <string>

namespace pto_mlir {

/// A pto function that does what several kernels do, one after another. Written without cores: pto-order-cores orders
/// what cube and vector core exchange through global memory.
class GraphKernel {
public:
  /// `elements`: of the memory behind each pointer that it takes.
  GraphKernel(mlir::ModuleOp module, llvm::StringRef name, mlir::Location loc, llvm::ArrayRef<mlir::Type> elements);

  mlir::func::FuncOp func;
  mlir::OpBuilder b; ///< at the end of what it does so far
  mlir::Location loc;

  mlir::Value pointer(unsigned number) { return func.getArgument(number); }
  mlir::Value constant(int64_t value);
  /// `offset` elements (i64) behind a pointer.
  mlir::Value behind(mlir::Value pointer, mlir::Value offset);
  /// Zeros.
  void clear(mlir::Value pointer, int64_t elements);
  /// Where the condition (i1) does not hold: a write far beyond a tensor, since no instruction stops a kernel.
  void faultUnless(mlir::Value condition, mlir::Value pointer);
  /// The body of a kernel, for pointers and numbers (i64 or f32). An empty string, or why it cannot stand here.
  std::string run(mlir::func::FuncOp kernel, llvm::ArrayRef<mlir::Value> arguments);
};

/// A launch in the list of a host program: its pointers are ports, offsets in elements.
struct PortLaunch {
  mlir::func::FuncOp kernel;
  std::vector<int64_t> pointers, offsets, scalars;
};

/// Launches that repeat: `period` of them, `turns` times, with offsets and numbers that grow evenly.
struct Repeated {
  llvm::ArrayRef<PortLaunch> first; ///< of the first turn
  std::vector<PortLaunch> steps;    ///< how offsets and numbers grow with a turn
  int64_t turns = 1;
};
/// The list as such, in order.
std::vector<Repeated> repeatedIn(llvm::ArrayRef<PortLaunch> launches);

/// Adds them to a kernel. With `acrossBlocks` each block takes every so many turn.
std::string addRepeated(GraphKernel &graph, const Repeated &repeated, bool acrossBlocks);

/// The type of a number on engine S, which has single precision.
mlir::Type numberType(mlir::Type type);
/// What an operation of a host program computes of numbers (vm.binary, vm.compare, ..); null for others.
mlir::Value addNumber(mlir::OpBuilder &b, mlir::Location loc, mlir::Operation *op, mlir::ValueRange operands);

/// Adds all that a host program does that decides what it launches (func.func of the vm dialect), and a return:
/// `pointers` are those of its arguments, then of the slots of its tensors, `output` is one that it writes.
mlir::LogicalResult addProgram(GraphKernel &graph, mlir::func::FuncOp main, const GraphTensors &tensors,
                               llvm::ArrayRef<unsigned> pointers, unsigned output,
                               llvm::function_ref<mlir::func::FuncOp(llvm::StringRef)> kernelOf);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_COMPILER_GRAPHKERNEL_H
