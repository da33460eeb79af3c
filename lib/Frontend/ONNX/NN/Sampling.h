// Pixels at computed coordinates, as rows of channels gathered for each tap of an interpolation.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_NN_SAMPLING_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_NN_SAMPLING_H

#include "../Composite.h"

namespace pto_mlir::onnx {

/// A neighbour along one dimension of an image: its number, and what it weighs (null: 1).
struct Tap {
  mlir::Value position, weight;
};

/// The images [N, C, d..] as rows of channels, [N * pixels, C]; with the channels in `groups` parts, each an image,
/// [N * groups * pixels, C / groups].
mlir::Value channelRows(Node &node, mlir::Value images, int64_t groups = 1);

/// How the taps of one point become one.
enum class Blend { sum, max };

/// For each point the taps' rows times their weights, [points, C]. `rows` are those of images of the given `sizes`;
/// `base` is the number of the image's first row. Positions, weights and `base` broadcast to one shape.
mlir::Value sampleRows(Node &node, mlir::Value rows, mlir::Value base, llvm::ArrayRef<std::vector<Tap>> taps,
                       llvm::ArrayRef<int64_t> sizes, Blend blend = Blend::sum);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_NN_SAMPLING_H
