//===- ResizeWeights.h - interpolation weights of a resize *- C++ -*-===//

#ifndef PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_TENSOR_RESIZEWEIGHTS_H
#define PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_TENSOR_RESIZEWEIGHTS_H

#include "pto_mlir/Dialect/Top/IR/Top.h"

namespace pto_mlir::top_to_linalg {

/// An input index and its weight in an output element.
struct ResizeTap {
  int64_t index;
  double weight;
};

/// The taps of every output element along one dimension; an element outside of the image under tf_crop_and_resize has
/// none. Formulas: ONNX, operator Resize 19; coordinates in float32 as onnxruntime computes them.
std::vector<llvm::SmallVector<ResizeTap, 4>> resizeTaps(top::ResizeOp op, int64_t dim);

} // namespace pto_mlir::top_to_linalg

#endif // PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_TENSOR_RESIZEWEIGHTS_H
