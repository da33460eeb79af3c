// How operators are computed where sizes, or the values that decide them, are known at run time only: by the host, on
// tensors of whatever sizes a run has.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_RUNTIME_FORMS_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_RUNTIME_FORMS_H

#include "../Registry.h"
#include "llvm/ADT/StringMap.h"

namespace pto_mlir::onnx {

/// The form of an operator (of the default domain) of this kind; null where it has none.
ImportFn formAtRunTime(llvm::StringRef op);

/// An extent that is known at run time only.
inline constexpr int64_t kOpen = mlir::ShapedType::kDynamic;

using Forms = llvm::StringMap<ImportFn>;
void addElementwiseForms(Forms &forms);
void addShapeForms(Forms &forms);
void addSelectForms(Forms &forms);
void addResizeForms(Forms &forms);

/// Importers that take open extents as well.
mlir::LogicalResult importNonMaxSuppression(Node &node);
mlir::LogicalResult importRoiAlign(Node &node);

/// Builds an operation of the host with the element type of its first operand.
mlir::Value atRunTime(Node &node, llvm::StringRef name, llvm::StringRef kernel, mlir::ValueRange operands,
                      llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<mlir::NamedAttribute> parameters = {});
/// The same with another element type.
mlir::Value atRunTime(Node &node, llvm::StringRef name, llvm::StringRef kernel, mlir::ValueRange operands,
                      mlir::RankedTensorType type, llvm::ArrayRef<mlir::NamedAttribute> parameters = {});

/// What is known of the shape to which operands broadcast; nullopt after an error.
std::optional<llvm::SmallVector<int64_t>> broadcast(Node &node, mlir::ValueRange operands);
/// A list of 64-bit integers.
mlir::Value integers(Node &node, llvm::ArrayRef<int64_t> values);
/// Axes that were an attribute before opset `inputSince` and are input 1 since, none negative; nullopt where they are
/// absent or after an error.
std::optional<llvm::SmallVector<int64_t>> axesOf(Node &node, int64_t inputSince, int64_t rank);
inline llvm::ArrayRef<int64_t> sizesOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_RUNTIME_FORMS_H
