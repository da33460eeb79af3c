//===- VersionLimits.h - How many versions a model may have -----*- C++ -*-===//
//
// Free of MLIR headers, for the commands.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_FRONTEND_ONNX_VERSIONLIMITS_H
#define PTO_MLIR_FRONTEND_ONNX_VERSIONLIMITS_H

namespace pto_mlir::onnx {

/// Limits on the versions of one model, each of which is compiled: so many in any case; of shapes, which a user lists,
/// more while all versions together have no more than kVersionNodes nodes.
inline constexpr unsigned kMaxVersions = 512, kVersionNodes = 1 << 14;

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_FRONTEND_ONNX_VERSIONLIMITS_H
