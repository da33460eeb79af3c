// Decodes TensorProto to element type, shape and data.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_TENSORDECODER_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_TENSORDECODER_H

#include "ModelFile.h"
#include "pto_mlir/Dialect/Top/IR/WeightStore.h"

namespace pto_mlir::onnx {

/// The element type of a TensorProto.DataType, null for one that has none (complex numbers).
mlir::Type elementType(mlir::MLIRContext *context, int dataType);

/// The name of a TensorProto.DataType ("FLOAT8E8M0"), or its number when the schema has no name.
std::string dataTypeName(int dataType);

/// Decodes a tensor with raw data `raw` (of the message or of the mapped file). If `owner` is set, it keeps `raw` alive
/// and the result may point into it; otherwise the data is copied. Nullopt with a reason on error.
std::optional<top::Weight> decodeTensor(mlir::MLIRContext *context, const ::onnx::TensorProto &tensor,
                                        llvm::StringRef raw, std::shared_ptr<const void> owner, ModelFile &file,
                                        std::string &error);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_TENSORDECODER_H
