//===- LeftSource.h - where left tiles come from ----------------*- C++ -*-===//
//
// The kernel builder asks a source to bring the left operand into L1 and then,
// tile by tile, into L0A. It calls, nested as written:
//   enterBlock  once per block of outputs
//     enterTile   once per tile of at most baseM outputs of the block
//       enterPanel  once per panel of K
//         extract     once per tile of K
// A source keeps what it needs between these calls.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_CUBE_LEFTSOURCE_H
#define PTO_MLIR_LIB_KERNELS_CUBE_LEFTSOURCE_H

#include "Emitter.h"

#include <functional>
#include <memory>

namespace pto_mlir::cube {

class LeftSource {
public:
  virtual ~LeftSource() = default;

  /// Blocks of one outer index.
  virtual Ix numBlocks() const = 0;
  /// Outputs of a full block, and whether all blocks are full.
  virtual int64_t blockRows() const = 0;
  /// Outputs of the current block.
  virtual Ix rows() const = 0;
  /// Row of the output matrix where the current block begins.
  virtual Ix firstRow() const = 0;

  virtual void enterBlock(Ix outer, Ix block) = 0;
  virtual void enterTile(Ix row, Ix rows) = 0;
  virtual void enterPanel(Ix k, Ix extent) = 0;
  /// Fills `left` from position k of the panel.
  virtual void extract(mlir::Value left, Ix k) = 0;
};

/// A row-major matrix of `rows` rows in blocks of `blockRows`, loaded ND to NZ; without `loads` only the place of each
/// block is known. `leftRow`, if there is one, says in which row of the operand's argument the current block begins.
std::unique_ptr<LeftSource> makePlainSource(Emitter &emitter, const Contraction &contraction, const CubeTiling &tiling,
                                            Ix rows, Ix blockRows, std::function<Ix()> leftRow, bool loads = true);

/// An image slab in L1, read by img2col; without `loads` only the place of each block is known.
std::unique_ptr<LeftSource> makeImageSource(Emitter &emitter, const Contraction &contraction, const CubeTiling &tiling,
                                            bool loads = true);

/// Windows that do not overlap, read from the image by strided loads.
std::unique_ptr<LeftSource> makePatchSource(Emitter &emitter, const Contraction &contraction, const CubeTiling &tiling);

} // namespace pto_mlir::cube

#endif // PTO_MLIR_LIB_KERNELS_CUBE_LEFTSOURCE_H
