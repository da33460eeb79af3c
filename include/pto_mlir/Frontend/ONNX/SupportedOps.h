//===- SupportedOps.h - Which ONNX operators are imported ---------*- C++ -*-===//
//
// Free of MLIR headers, for the documentation generator.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_FRONTEND_ONNX_SUPPORTEDOPS_H
#define PTO_MLIR_FRONTEND_ONNX_SUPPORTEDOPS_H

#include <string>
#include <vector>

namespace pto_mlir::onnx {

/// An ONNX operator of the default domain that is imported, and the range of opsets (inclusive) of one importer.
struct SupportedOp {
  std::string name;
  int firstOpset, lastOpset;
};

/// All supported operators, sorted by name and opset; the source of docs/onnx-ops.md.
std::vector<SupportedOp> supportedOps();

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_FRONTEND_ONNX_SUPPORTEDOPS_H
