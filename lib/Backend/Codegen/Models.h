//===- Models.h - The codegen models, one function per family -------------===//

#ifndef PTO_MLIR_LIB_BACKEND_CODEGEN_MODELS_H
#define PTO_MLIR_LIB_BACKEND_CODEGEN_MODELS_H

#include "pto_mlir/Backend/CodegenContext.h"
#include "pto_mlir/Backend/CodegenOpInterface.h"

namespace pto_mlir::backend {

/// Every op that is one instruction, operand by operand.
void attachInsnModels(mlir::MLIRContext *context);
void attachScalarModels(mlir::MLIRContext *context);
void attachControlFlowModels(mlir::MLIRContext *context);
void attachSystemModels(mlir::MLIRContext *context);
void attachViewModels(mlir::MLIRContext *context);
void attachTileModels(mlir::MLIRContext *context);
void attachDataMovementModels(mlir::MLIRContext *context);
void attachElementwiseModels(mlir::MLIRContext *context);
void attachConvertModels(mlir::MLIRContext *context);
void attachGatherSortModels(mlir::MLIRContext *context);
void attachColumnSumModel(mlir::MLIRContext *context);
void attachScaledModels(mlir::MLIRContext *context);
void attachElementAccessModels(mlir::MLIRContext *context);
void attachQueueModels(mlir::MLIRContext *context);
void attachEventArrayModels(mlir::MLIRContext *context);
void attachFloatScalarModels(mlir::MLIRContext *context);
void attachUnsignedModels(mlir::MLIRContext *context);
void attachWhileModel(mlir::MLIRContext *context);
void attachPoisonModel(mlir::MLIRContext *context);

} // namespace pto_mlir::backend

#endif
