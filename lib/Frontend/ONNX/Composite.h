// A builder for operators that are decomposed into a few top ops.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_COMPOSITE_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_COMPOSITE_H

#include "Node.h"

namespace pto_mlir::onnx {

/// Converts elements; `value` itself where it has the type.
inline mlir::Value castTo(Node &node, mlir::Value value, mlir::Type element, llvm::StringRef name = "") {
  if (!value || mlir::getElementTypeOrSelf(value.getType()) == element)
    return value;
  return node.create<top::CastOp>(name, value, {node.named("to", mlir::TypeAttr::get(element))});
}

/// Builds the ops of one node's decomposition. Intermediate values have no tensor name; the result gets the node's
/// output name. A null value marks an error already reported and propagates.
class Formula {
public:
  explicit Formula(Node &node) : node(node) {}

  /// A constant of `like`'s element type that broadcasts.
  mlir::Value constant(mlir::Value like, double value) {
    if (!like)
      return {};
    mlir::Type element = mlir::cast<mlir::RankedTensorType>(like.getType()).getElementType();
    mlir::OpBuilder &b = node.builder();
    return top::createConstant(b, b.getUnknownLoc(), "", mlir::RankedTensorType::get({}, element),
                               top::fromDoubles(element, {value}));
  }

  template <typename OpTy> mlir::Value of(mlir::Value x, llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return node.create<OpTy>("", x, attributes);
  }
  template <typename OpTy> mlir::Value of(mlir::Value x, mlir::Value y) { return node.create<OpTy>("", {x, y}); }
  template <typename OpTy> mlir::Value of(mlir::Value x, double y) {
    return x ? node.create<OpTy>("", {x, constant(x, y)}) : x;
  }

  /// Where `x mode y` holds: eq, lt, le, gt or ge.
  mlir::Value compare(mlir::Value x, llvm::StringRef mode, mlir::Value y) {
    return x && y ? node.create<top::CompareOp>("", {x, y}, {node.named("mode", node.builder().getStringAttr(mode))})
                  : mlir::Value();
  }
  mlir::Value compare(mlir::Value x, llvm::StringRef mode, double y) {
    return x ? compare(x, mode, constant(x, y)) : x;
  }
  mlir::Value where(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return condition && x && y ? node.create<top::WhereOp>("", {condition, x, y}) : mlir::Value();
  }

  /// Builds the op whose result is the node's output.
  template <typename OpTy>
  mlir::LogicalResult result(mlir::Value x, llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return node.finish(node.create<OpTy>(node.outputName(), x, attributes));
  }
  template <typename OpTy> mlir::LogicalResult result(mlir::Value x, mlir::Value y) {
    return node.finish(node.create<OpTy>(node.outputName(), {x, y}));
  }
  template <typename OpTy> mlir::LogicalResult result(mlir::Value x, double y) {
    return node.finish(x ? node.create<OpTy>(node.outputName(), {x, constant(x, y)}) : x);
  }

  /// Input `i` for a formula whose squares and sums leave the range of 16 bits: as f32 where it is f16 or bf16.
  mlir::Value wide(unsigned i) {
    mlir::Value value = node.input(i);
    return value && isNarrow(value.getType()) ? castTo(node, value, node.builder().getF32Type()) : value;
  }
  /// result() of such a formula, in the element type of input 0.
  template <typename OpTy, typename... Operands> mlir::LogicalResult narrowed(Operands... operands) {
    if (!isNarrow(node.type(0)))
      return result<OpTy>(operands...);
    return node.finish(castTo(node, of<OpTy>(operands...), node.type(0).getElementType(), node.outputName()));
  }

  /// Where x < y.
  mlir::Value isLess(mlir::Value x, double y) {
    return x ? node.create<top::CompareOp>("", {x, constant(x, y)},
                                           {node.named("mode", node.builder().getStringAttr("lt"))})
             : x;
  }
  /// Builds the choice between two values whose result is the node's output.
  mlir::LogicalResult choose(mlir::Value condition, mlir::Value yes, mlir::Value no) {
    return node.finish(node.create<top::WhereOp>(node.outputName(), {condition, yes, no}));
  }

  /// Whether the formulas of f32, whose constants and steps fit its 24 bits, are too coarse for `x`.
  static bool isDouble(mlir::Value x) { return x && mlir::getElementTypeOrSelf(x.getType()).isF64(); }
  /// A function of f64 that the host has as such.
  mlir::Value onHost(mlir::Value x, llvm::StringRef kernel, llvm::StringRef name = "") {
    return node.host(name, kernel, x, mlir::cast<mlir::RankedTensorType>(x.getType()), "elements of type f64");
  }

  /// A reduction over `axes` (ascending) that keeps the dimensions.
  template <typename OpTy> mlir::Value over(mlir::Value x, llvm::ArrayRef<int64_t> axes) {
    return node.create<OpTy>("", x, {node.i64s("axes", axes)});
  }

private:
  static bool isNarrow(mlir::Type type) {
    mlir::Type element = mlir::getElementTypeOrSelf(type);
    return element.isF16() || element.isBF16();
  }

  Node &node;
};

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_COMPOSITE_H
