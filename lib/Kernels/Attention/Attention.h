//===- Attention.h - what an attention kernel computes ----------*- C++ -*-===//
//
// The body of an outlined attention kernel, read into plain data, and the two
// functions that carry it out.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_ATTENTION_ATTENTION_H
#define PTO_MLIR_LIB_KERNELS_ATTENTION_ATTENTION_H

#include "../Cube/Rings.h"
#include "../Cube/StridedView.h"
#include "pto_mlir/Kernels/Attention.h"
#include "pto_mlir/Kernels/AttentionTiling.h"

namespace pto_mlir::attention {

using cube::Matrix;

/// softmax(scale * Q K^T + bias) V for each head, whose rows see keys in a band around their position.
struct Attention {
  AttentionProblem problem;
  Matrix query, key, value, out;   ///< a block of each is a head of a batch
  std::optional<Matrix> bias;      ///< of one row where all rows of a head have the same
  bool biasByRow = false;          ///< of as many rows as Q
  std::optional<unsigned> lengths; ///< argument: keys per batch
  std::optional<Matrix> sinks;     ///< one row: a score more in each head's sum
  int64_t headsOfBatch = 1;        ///< of Q
  int64_t group = 1;               ///< heads of Q per head of K and V
  /// Extents that are known at run time, as products of the launch's scalars; null: those of `problem`.
  mlir::AffineExpr batches, queries, keys;
  double scale = 1, softcap = 0;
  std::optional<int64_t> offset;        ///< of row 0 of Q among the keys; else the last row sees the last key
  std::optional<int64_t> before, after; ///< keys that a row sees before and after its position; all without
  mlir::Type element;                   ///< of Q, K, V and the weights
};

/// Reads `op`, whose operands are arguments of a kernel and whose result is argument `out`. Nothing where
/// `canBuild` is false; then `reason`, if given, says why.
std::optional<Attention> matchAttention(top::AttentionOp op, llvm::StringRef architecture, unsigned out,
                                        std::string *reason = nullptr);

/// How operand 0, 1 or 2 of `op` (Q, K, V) lies in the tensor `root`, which it is or is a view of: a block for each
/// head of all batches. Nothing where rows of a head are scattered.
std::optional<Matrix> operandHeads(top::AttentionOp op, unsigned operand, mlir::Value root,
                                   cube::ShapeOf shapeOf = cube::staticShapeOf);
/// What operand `operand` is a view of: itself, or in a kernel the argument that it is read from in place.
mlir::Value rootOf(top::AttentionOp op, unsigned operand);
/// The same of the result, a tensor of `shape`.
std::optional<Matrix> resultHeads(top::AttentionOp op, llvm::ArrayRef<int64_t> shape);
/// The bias of `shape`, of four dimensions, as a matrix with a block for each head of all batches, as it is broadcast.
Matrix biasHeads(top::AttentionOp op, llvm::ArrayRef<int64_t> shape);
/// The shape of `type` with ones in front.
llvm::SmallVector<int64_t> fourDimensions(llvm::ArrayRef<int64_t> shape);

/// Reads what is known at run time off the kernel's arguments (pto.sizes). An error in words for the user where an
/// extent is at a place that no instruction reads so.
mlir::LogicalResult matchSizes(mlir::func::FuncOp kernel, top::AttentionOp op, Attention &attention);

/// What a kernel hands from core to core: scores and sums to the vector cores, weights to the cube core.
struct Rings {
  cube::Ring scores, weights, sums;
};

/// The rings of `blocks` blocks, arguments of the kernel from `firstArgument` on.
Rings makeRings(const Attention &attention, const AttentionTiling &tiling, int64_t blocks, unsigned firstArgument);

/// Emit the bodies of the functions of both kinds of core, whose entry blocks are empty and whose arguments are
/// pointers. `cores` is the number of blocks of a launch: 0 when it is not known.
void buildCubePart(mlir::func::FuncOp func, const Attention &attention, const AttentionTiling &tiling,
                   const Rings &rings, int64_t cores);
void buildVectorPart(mlir::func::FuncOp func, const Attention &attention, const AttentionTiling &tiling,
                     const Rings &rings, int64_t cores);

} // namespace pto_mlir::attention

#endif // PTO_MLIR_LIB_KERNELS_ATTENTION_ATTENTION_H
