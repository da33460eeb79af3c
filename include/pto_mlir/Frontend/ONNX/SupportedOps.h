//===- SupportedOps.h - Which ONNX operators are imported ---------*- C++ -*-===//
//
// No MLIR header is needed to ask.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_FRONTEND_ONNX_SUPPORTEDOPS_H
#define PTO_MLIR_FRONTEND_ONNX_SUPPORTEDOPS_H

#include <string>
#include <vector>

namespace pto_mlir::onnx {

/// An ONNX operator of the default domain that is imported, and the opsets (both included) for which one importer
/// serves.
struct SupportedOp {
  std::string name;
  int firstOpset, lastOpset;
};

/// All of them, sorted by name and opset: what docs/onnx-ops.md is made from.
std::vector<SupportedOp> supportedOps();

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_FRONTEND_ONNX_SUPPORTEDOPS_H
