// ONNX tensor names as MLIR locations: the only place that reads or writes them.
#ifndef PTO_MLIR_DIALECT_TOP_IR_NAMES_H
#define PTO_MLIR_DIALECT_TOP_IR_NAMES_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"

namespace pto_mlir::top {

/// Argument and result attribute of `@main` that names inputs and outputs.
inline constexpr llvm::StringLiteral kNameAttr = "top.name";
/// Argument and result attribute of `@main`: the model's element type where the device stores another one.
inline constexpr llvm::StringLiteral kTypeAttr = "top.type";
/// Argument attribute of `@main` (i64 n): the input names rows of a tensor with n of them; the host lets [-n, n) pass.
inline constexpr llvm::StringLiteral kIndexBoundAttr = "top.index_bound";
/// Of a launch whose operand number [0] is a computed index: it names one of [1] rows.
inline constexpr llvm::StringLiteral kComputedIndexAttr = "top.computed_index";
/// Module attribute: constants whose values were cut to the range of their storage type (array of strings).
inline constexpr llvm::StringLiteral kClippedAttr = "top.clipped";
/// Module attribute: names that folding absorbed (array of strings).
inline constexpr llvm::StringLiteral kAbsorbedAttr = "top.absorbed";
/// Module attribute: shapes, in the order that they are held in, of named tensors that a kernel writes in another
/// shape: dimensions of 1 come or go, one is split (dictionary of arrays).
inline constexpr llvm::StringLiteral kShapesAttr = "top.shapes";
/// Module attribute: the safetensors file beside the .mlir.
inline constexpr llvm::StringLiteral kWeightFileAttr = "top.weight_file";
/// Module attribute: how far the module has come ("imported", ..).
inline constexpr llvm::StringLiteral kStateAttr = "top.state";

/// Location of a tensor: its ONNX name and, when it is held in another dimension order than ONNX's, that layout
/// ("NHWC").
mlir::Location namedLoc(mlir::MLIRContext *context, llvm::StringRef name, llvm::StringRef layout = "");

/// The ONNX name in a location, "" when it has none.
llvm::StringRef getTensorName(mlir::Location loc);
/// The same of a value: of its defining op, or of a function argument's `top.name`.
llvm::StringRef getTensorName(mlir::Value value);

/// "NHWC" or "" (ONNX's own order).
llvm::StringRef getTensorLayout(mlir::Location loc);
llvm::StringRef getTensorLayout(mlir::Value value);

/// Notes shapes in the module's `top.shapes`, in place of older ones of the same names.
void addShapes(mlir::Operation *module, llvm::ArrayRef<std::pair<llvm::StringRef, llvm::ArrayRef<int64_t>>> shapes);
/// The shape noted for `name`, or nothing.
std::optional<llvm::ArrayRef<int64_t>> getShape(mlir::Operation *module, llvm::StringRef name);

/// Appends names to the module's `top.absorbed`, each once, empty ones left out.
void addAbsorbed(mlir::Operation *module, llvm::ArrayRef<llvm::StringRef> names);

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_NAMES_H
