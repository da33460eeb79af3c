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
  /// Heads of all batches that are known at run time: so many times the launch's scalar; 0: they are problem.heads.
  int64_t headsPerSize = 0;
  int64_t greatestSize = 0; ///< of that scalar
  int64_t group = 1;        ///< heads of Q per head of K and V
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
std::optional<Matrix> operandHeads(top::AttentionOp op, unsigned operand, mlir::Value root);

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
