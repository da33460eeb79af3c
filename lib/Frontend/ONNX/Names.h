// Validation of names in an ONNX graph.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_NAMES_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_NAMES_H

#include "onnx-ml.pb.h"
#include <optional>
#include <string>

namespace pto_mlir::onnx {

/// The first name in the graph or its subgraphs that is not UTF-8 text, as "tensor 'a\xff'"; nullopt without one. ONNX
/// requires UTF-8, but its protobuf schema (proto2) does not enforce it.
std::optional<std::string> findNonUtf8Name(const ::onnx::GraphProto &graph);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_NAMES_H
