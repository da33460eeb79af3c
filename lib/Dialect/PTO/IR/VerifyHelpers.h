//===- VerifyHelpers.h - comparisons that the verifiers share --------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_DIALECT_PTO_IR_VERIFYHELPERS_H
#define PTO_MLIR_LIB_DIALECT_PTO_IR_VERIFYHELPERS_H

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

namespace pto_mlir::pto {

/// A dynamic extent equals anything.
inline bool sameExtent(int64_t a, int64_t b) {
  return a == b || mlir::ShapedType::isDynamic(a) || mlir::ShapedType::isDynamic(b);
}
inline bool sameValid(TileBufType a, TileBufType b) {
  return sameExtent(a.getValidRows(), b.getValidRows()) && sameExtent(a.getValidCols(), b.getValidCols());
}
inline bool sameShape(TileBufType a, TileBufType b) { return a.getRows() == b.getRows() && a.getCols() == b.getCols(); }

inline std::string shapeText(int64_t rows, int64_t cols) {
  auto text = [](int64_t extent) {
    return mlir::ShapedType::isDynamic(extent) ? std::string("?") : std::to_string(extent);
  };
  return text(rows) + "x" + text(cols);
}
inline std::string validText(TileBufType tile) { return shapeText(tile.getValidRows(), tile.getValidCols()); }
inline std::string boxText(TileBufType tile) { return shapeText(tile.getRows(), tile.getCols()); }

/// The operand as a tile, null when it is a view, a memref or a tensor: then nothing is verified.
inline TileBufType asTile(mlir::Value value) {
  return value ? mlir::dyn_cast<TileBufType>(value.getType()) : TileBufType();
}
/// Element type of anything that an instruction can name.
inline mlir::Type elementTypeOf(mlir::Type type) {
  if (auto tile = mlir::dyn_cast<TileBufType>(type))
    return tile.getElementType();
  if (auto view = mlir::dyn_cast<PartitionTensorViewType>(type))
    return view.getElementType();
  if (auto view = mlir::dyn_cast<TensorViewType>(type))
    return view.getElementType();
  if (auto ptr = mlir::dyn_cast<PtrType>(type))
    return ptr.getElementType();
  if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(type))
    return shaped.getElementType();
  return type;
}
/// Equal, or integers of one width: scalars lose their sign where arith ops take them.
inline bool sameScalar(mlir::Type a, mlir::Type b) {
  auto x = mlir::dyn_cast<mlir::IntegerType>(a), y = mlir::dyn_cast<mlir::IntegerType>(b);
  return a == b || (x && y && x.getWidth() == y.getWidth());
}
inline bool isIn(AddressSpace space, std::initializer_list<AddressSpace> spaces) {
  for (AddressSpace one : spaces)
    if (one == space)
      return true;
  return false;
}

/// A tile and a row that is spread over it.
mlir::LogicalResult verifyColExpand(mlir::Operation *op, mlir::Value src0, mlir::Value src1, mlir::Value dst);
/// A tile and a column that is spread over it. `strict`: the column is DN with one valid column or row major with one
/// 32-byte block.
mlir::LogicalResult verifyRowExpand(mlir::Operation *op, mlir::Value src0, mlir::Value src1, mlir::Value dst,
                                    bool strict);
/// The instructions of a5 need no scratch.
mlir::LogicalResult verifyNoTmp(mlir::Operation *op, mlir::Value tmp);
/// Rows to a column; `tmp`, where it is given, is like the source.
mlir::LogicalResult verifyRowReduction(mlir::Operation *op, mlir::Value src, mlir::Value tmp, mlir::Value dst);
/// Columns to a row.
mlir::LogicalResult verifyColReduction(mlir::Operation *op, mlir::Value src, mlir::Value dst);

/// Memories and extents of (left, right, acc) of a product.
mlir::LogicalResult verifyProduct(mlir::Operation *op, mlir::Value lhs, mlir::Value rhs, mlir::Value dst);
/// One row in the bias table.
mlir::LogicalResult verifyProductBias(mlir::Operation *op, mlir::Value bias, mlir::Value dst);
/// A matrix-vector product has one valid row on the left and in dst.
mlir::LogicalResult verifyVectorProduct(mlir::Operation *op, mlir::Value lhs, mlir::Value dst);

} // namespace pto_mlir::pto

#endif
