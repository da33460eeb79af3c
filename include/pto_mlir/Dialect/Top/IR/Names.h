// ONNX tensor names as MLIR locations. No other code reads or writes them.
#ifndef PTO_MLIR_DIALECT_TOP_IR_NAMES_H
#define PTO_MLIR_DIALECT_TOP_IR_NAMES_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"

namespace pto_mlir::top {

/// Argument and result attribute of `@main` that names inputs and outputs.
inline constexpr llvm::StringLiteral kNameAttr = "top.name";
/// Argument and result attribute of `@main`: the model's element type if it differs from the storage type.
inline constexpr llvm::StringLiteral kTypeAttr = "top.type";
/// Argument attribute of `@main` (i64 n): the input indexes rows of a tensor with n rows; the host rejects values
/// outside [-n, n).
inline constexpr llvm::StringLiteral kIndexBoundAttr = "top.index_bound";
/// Beside it: the bound keeps the net's 64-bit arithmetic within the 32 bits of the device.
inline constexpr llvm::StringLiteral kArithmeticBoundAttr = "top.arithmetic_bound";
/// Attribute of `@main`: the numbers that inputs' shapes give at run time, {name, least, greatest, multiple} each.
/// Shapes are those of the greatest.
inline constexpr llvm::StringLiteral kSymbolsAttr = "top.symbols";
/// Unit attribute of `@main` beside it: attentions that are one op have sizes at run time that their kernels take.
inline constexpr llvm::StringLiteral kSizedAttentionsAttr = "top.sized_attentions";
/// Attribute of `@main`: "together" builds each attention that has a kernel as that one, "apart" none, whatever is
/// estimated; for tests and measurements of either.
inline constexpr llvm::StringLiteral kAttentionsAttr = "top.attentions";
/// On a reduction: it is over an extent that is known at run time.
inline constexpr llvm::StringLiteral kOverSizeAttr = "top.over_size";
/// Argument and result attribute of `@main`, and attribute of a constant of which only the first rows count: the
/// extents as functions of the symbols, an affine map without dimensions.
inline constexpr llvm::StringLiteral kSizesAttr = "top.sizes";
/// Unit attribute of an op for which no kernel can be built: top-decompose expresses it by others.
inline constexpr llvm::StringLiteral kNoKernelAttr = "top.no_kernel";
/// Unit attribute of an op whose f32 result may leave the range of f16 where the tensors of the model do not: no mode
/// narrows it.
inline constexpr llvm::StringLiteral kWideAttr = "top.wide";
/// Attribute of a launch: operand number [0] is a computed index into [1] rows.
inline constexpr llvm::StringLiteral kComputedIndexAttr = "top.computed_index";
/// Attribute of a launch: its kernel concatenates its operands along this dimension, and does nothing else.
inline constexpr llvm::StringLiteral kConcatAxisAttr = "top.concat_axis";
/// Attribute of a launch: its kernel copies, and does nothing else, elements [0] to [0] + [1] of rows of [2] elements.
inline constexpr llvm::StringLiteral kColumnsAttr = "top.columns";
/// Module attribute: constants whose values were clamped to the range of their storage type (array of strings).
inline constexpr llvm::StringLiteral kClippedAttr = "top.clipped";
/// Module attribute: names of tensors that rewrites removed (array of strings).
inline constexpr llvm::StringLiteral kAbsorbedAttr = "top.absorbed";
/// Module attribute: shapes, in storage order, of named tensors that a kernel writes in another shape, with unit
/// dimensions added or dropped or a dimension split (dictionary of arrays).
inline constexpr llvm::StringLiteral kShapesAttr = "top.shapes";
/// Module attribute: the safetensors file next to the .mlir.
inline constexpr llvm::StringLiteral kWeightFileAttr = "top.weight_file";
/// Module attribute: the last completed stage ("imported", ..).
inline constexpr llvm::StringLiteral kStateAttr = "top.state";

/// The location of a tensor: its ONNX name and, if it is stored in another dimension order than ONNX's, that layout
/// ("NHWC").
mlir::Location namedLoc(mlir::MLIRContext *context, llvm::StringRef name, llvm::StringRef layout = "");

/// The ONNX name in a location, "" if it has none.
llvm::StringRef getTensorName(mlir::Location loc);
/// The ONNX name of a value: that of its defining op, or a function argument's `top.name`.
llvm::StringRef getTensorName(mlir::Value value);

/// The layout of a tensor: "NHWC", or "" for ONNX's dimension order.
llvm::StringRef getTensorLayout(mlir::Location loc);
llvm::StringRef getTensorLayout(mlir::Value value);

/// Records shapes in the module's `top.shapes`, replacing earlier ones of the same names.
void addShapes(mlir::Operation *module, llvm::ArrayRef<std::pair<llvm::StringRef, llvm::ArrayRef<int64_t>>> shapes);
/// The recorded shape of `name`, if any.
std::optional<llvm::ArrayRef<int64_t>> getShape(mlir::Operation *module, llvm::StringRef name);

/// Appends names to the module's `top.absorbed`, without duplicates and empty names.
void addAbsorbed(mlir::Operation *module, llvm::ArrayRef<llvm::StringRef> names);

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_NAMES_H
