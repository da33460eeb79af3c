//===- VersionLimits.h - How many versions a model may have -----*- C++ -*-===//
//
// Free of MLIR headers, for the commands.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_FRONTEND_ONNX_VERSIONLIMITS_H
#define PTO_MLIR_FRONTEND_ONNX_VERSIONLIMITS_H

namespace pto_mlir::onnx {

/// The limit on the versions of one model is what compiling them takes: all together have no more than kVersionNodes
/// nodes, where there are more than kFewVersions. Above kFewVersions, tensors of the sizes of a run come first where
/// each operator has a form on them.
inline constexpr unsigned kFewVersions = 512, kVersionNodes = 1 << 14;

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_FRONTEND_ONNX_VERSIONLIMITS_H
