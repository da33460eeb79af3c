// TensorProto -> element type, shape and bytes.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_TENSORDECODER_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_TENSORDECODER_H

#include "ModelFile.h"
#include "pto_mlir/Dialect/Top/IR/WeightStore.h"

namespace pto_mlir::onnx {

/// The builtin type of a TensorProto.DataType, null for one that has none (strings, complex numbers, float4, e8m0).
mlir::Type elementType(mlir::MLIRContext *context, int dataType);

/// "FLOAT8E8M0", or the number when the schema does not know it.
std::string dataTypeName(int dataType);

/// Decodes a tensor whose raw bytes are `raw` (of the message or of the mapped file). `owner` keeps `raw` alive when
/// the result may point into it; null = copy. Nullopt with a reason on error.
std::optional<top::Weight> decodeTensor(mlir::MLIRContext *context, const ::onnx::TensorProto &tensor,
                                        llvm::StringRef raw, std::shared_ptr<const void> owner, ModelFile &file,
                                        std::string &error);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_TENSORDECODER_H
