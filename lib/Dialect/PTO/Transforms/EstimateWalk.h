//===- EstimateWalk.h - one core's way through a kernel -------------------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_ESTIMATEWALK_H
#define PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_ESTIMATEWALK_H

#include "Accesses.h"
#include "pto_mlir/Cost/Sketch.h"

namespace pto_mlir::pto {

/// The analysis of a function that all cores share.
class EstimatedFunction {
public:
  /// `ordered`: its tiles have addresses and its engines flags; else an engine waits where another touched its bytes.
  EstimatedFunction(mlir::func::FuncOp func, bool ordered);

  mlir::func::FuncOp func;
  bool ordered, cube, laneFlags;
  llvm::SmallVector<unsigned> engines; // without S
  struct Place {
    uint64_t base;
    int64_t bytes, buffers;
  };
  llvm::DenseMap<mlir::Operation *, Place> places; // of alloc_tile

  /// The accesses of `op`, computed once.
  llvm::ArrayRef<Access> accessesOf(mlir::Operation *op);

private:
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Access>> accesses;
};

/// Interprets a function for one core, as far as its scalars are known, and records its instructions.
class EstimateWalk {
public:
  EstimateWalk(EstimatedFunction &function, cost::Sketch &sketch, int64_t block, int64_t blocks, int64_t subblock)
      : function(function), sketch(sketch), place{block, blocks, subblock, function.cube ? 1 : 2} {}

  /// False where something is not known. `steps`: ops that may still be executed.
  bool run(int64_t &steps);

private:
  bool runBlock(mlir::Block &block);
  bool runOp(mlir::Operation *op);
  bool runLoop(mlir::scf::ForOp loop);
  bool runIf(mlir::scf::IfOp op);
  bool runScalar(mlir::Operation *op);
  template <typename Op> bool takeExtents(Op op);
  bool runTile(mlir::Operation *op);
  bool runView(mlir::Operation *op);
  bool runFlag(mlir::Operation *op);
  bool runEngine(mlir::Operation *op);

  std::optional<int64_t> integer(mlir::Value value) const;
  void bind(mlir::Value to, mlir::Value from);
  void bindAll(mlir::ValueRange to, mlir::ValueRange from);

  EstimatedFunction &function;
  cost::Sketch &sketch;
  struct {
    int64_t block, blocks, subblock, subblocks;
  } place;
  int64_t *stepsLeft = nullptr;
  llvm::DenseMap<mlir::Value, int64_t> integers;
  llvm::DenseMap<mlir::Value, cost::SketchTile> tiles;
  llvm::DenseMap<mlir::Value, cost::SketchView> views; // and pointers
  llvm::DenseMap<mlir::Operation *, int64_t> trips;    // of loops
};

} // namespace pto_mlir::pto

#endif
