//===- GroupedConv.h - recognise grouped convolutions ---------------------===//

#ifndef PTO_MLIR_KERNELS_GROUPEDCONV_H
#define PTO_MLIR_KERNELS_GROUPEDCONV_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <array>
#include <optional>

namespace pto_mlir {

/// A grouped convolution in the form produced by convert-top-to-linalg: loops (n, oh, ow, g, f, kh, kw, c), input [N,
/// H, W, G, C], filter [G, F, KH, KW, C], output [N, OH, OW, G, F].
struct GroupedConv {
  mlir::linalg::GenericOp op;
  std::array<int64_t, 2> strides;   ///< of (oh, ow) in the input's rows and columns
  std::array<int64_t, 2> dilations; ///< of (kh, kw)
};

/// Matches `op` as a grouped convolution.
std::optional<GroupedConv> matchGroupedConv(mlir::Operation *op);

} // namespace pto_mlir

#endif // PTO_MLIR_KERNELS_GROUPEDCONV_H
