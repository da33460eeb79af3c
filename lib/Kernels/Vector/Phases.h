//===- Phases.h - the phases of tile-vector-kernels -------------*- C++ -*-===//
//
// Each phase rewrites one vector kernel (a func.func on tensors, docs/lowering.md
// section 4). They run in the order in which they stand here.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_VECTOR_PHASES_H
#define PTO_MLIR_LIB_KERNELS_VECTOR_PHASES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

namespace pto_mlir::vector_kernels {

/// Set on the `scf.for` whose iterations are spread over the cores.
constexpr llvm::StringLiteral kDistributeAttr = "pto.distribute";

/// Set on a kernel whose loop nests write disjoint parts of one output.
constexpr llvm::StringLiteral kDisjointNestsAttr = "pto.disjoint_nests";

/// Bytes of the unified buffer that the tiles of one kernel may take, doubled
/// buffers included, on the architecture of the module around `op`.
int64_t unifiedBufferBudget(mlir::Operation *op);

/// What the phases share: patterns that are costly to collect.
struct PhaseContext {
  PhaseContext(mlir::MLIRContext *context, int64_t cores);
  mlir::FrozenRewritePatternSet cleanUpPatterns;
  int64_t cores; ///< vector cores that share a kernel
};

/// In bodies that round to f16 or bf16 anyway: rewrites division by a constant as multiplication.
void populateRoundedPatterns(mlir::RewritePatternSet &patterns);

/// Rewrites tanh and erf as arithmetic and exp.
void populateFunctionPatterns(mlir::RewritePatternSet &patterns);

/// True for depthwise convolutions and poolings over NHWC.
bool isWindowOp(mlir::Operation *op);

/// A linalg.generic that copies `source` to `destination` (equal shapes).
mlir::Value createCopy(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value source, mlir::Value destination);

/// Makes each returned value be computed into its output argument: the
/// destination `tensor.empty` becomes the argument. What starts from an initial
/// value (windows, reductions) is computed on the side and copied there; the copy
/// disappears once it is tiled.
void connectDestinations(mlir::func::FuncOp func);

/// Rewrites an op of pure movement (slice, concat, pad) into copies between
/// slices of the arguments. Returns false when the kernel holds none of them.
mlir::FailureOr<bool> lowerMovement(mlir::func::FuncOp func);

/// Does the body of `op` read a tensor at a computed place (top.gather)?
bool gathersRows(mlir::linalg::GenericOp op);

/// Rewrites a gather, the only op of the kernel, into a loop that copies one row
/// per index; engine S reads the indices.
mlir::LogicalResult lowerGather(mlir::func::FuncOp func, mlir::linalg::GenericOp op);

/// Rewrites a write to a state, the only op of the kernel, into a loop that copies its rows to their place in the
/// output argument; engine S reads the position.
mlir::LogicalResult lowerStateWrite(mlir::func::FuncOp func, top::StateWriteOp op);

/// The same elements under another shape of at least one dimension.
mlir::Value reshapeTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> shape);
/// The largest even cut of `inner` elements in a row that leaves room for two tiles in `budget` bytes.
int64_t chunkOf(int64_t inner, int64_t elementBytes, int64_t budget);

/// Generalizes named ops, fuses single-use elementwise producers into their
/// consumers and, without a window op, drops unit dimensions and merges
/// dimensions that are adjacent in every operand. The last dimension of argument
/// number `matrix` stays apart.
mlir::LogicalResult normalizeShapes(mlir::func::FuncOp func, const PhaseContext &context,
                                    std::optional<unsigned> matrix = std::nullopt);

/// Makes each body round to the storage type once, where it stores: what would round twice computes in f32.
void widenBodies(mlir::func::FuncOp func);

/// In a kernel with sizes that are known at run time: `groupsOf` are the loops that each of `ops` merges. Ops without a
/// value in common may merge more of them into rows than others; all get as many rows as those with fewest.
void mergeRowsAlike(mlir::func::FuncOp func, llvm::ArrayRef<mlir::linalg::LinalgOp> ops,
                    llvm::MutableArrayRef<llvm::SmallVector<mlir::ReassociationIndices>> groupsOf);

/// `createCopy` between arguments, which in such a kernel has the rows of its other ops.
mlir::Value copyOfRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value source, mlir::Value destination);

/// In a kernel with sizes that are known at run time (pto.sizes): replaces the operands of its ops by the parts that
/// are there. An error where the parts are no whole rows, or have different numbers of them.
mlir::LogicalResult sliceRows(mlir::func::FuncOp func);

/// In such a kernel: replaces the extents of tensors by the values from which they were made, so that an op that is
/// only asked for its extents is dead.
void resolveExtents(mlir::func::FuncOp func);

/// The extents of the loops of `op`, of one that is known at run time the greatest.
llvm::SmallVector<int64_t> loopBounds(mlir::linalg::LinalgOp op);

/// Tiles the consumers and fuses their producers.
mlir::LogicalResult tileKernel(mlir::func::FuncOp func, const PhaseContext &context);

/// Expands each (tiled) window op into bands of input pixels and a generic per row and kernel position.
mlir::LogicalResult expandWindows(mlir::func::FuncOp func);

/// Puts a copy in the unified buffer between global memory and every linalg op
/// and marks the loops that are spread over the cores.
mlir::LogicalResult stageTiles(mlir::func::FuncOp func);

/// Runs canonicalization of tensor, linalg, scf and affine ops plus CSE.
mlir::LogicalResult cleanUp(mlir::func::FuncOp func, const PhaseContext &context);

} // namespace pto_mlir::vector_kernels

#endif // PTO_MLIR_LIB_KERNELS_VECTOR_PHASES_H
