// Helpers for importing regions of control-flow ops.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_CONTROL_BODY_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_CONTROL_BODY_H

#include "../Node.h"

namespace pto_mlir::onnx {

/// Creates an op (top.if, top.loop, top.scan) without results at the insertion point; owned by the caller until
/// `finishControl`.
mlir::Operation *makeControl(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef opName, mlir::ValueRange operands,
                             llvm::ArrayRef<mlir::NamedAttribute> attributes, unsigned numRegions);
mlir::Operation *makeControl(Node &node, llvm::StringRef opName, mlir::ValueRange operands,
                             llvm::ArrayRef<mlir::NamedAttribute> attributes, unsigned numRegions);
/// Infers the result types of `op`, whose regions are complete, and moves the insertion point after it. On error
/// reports it, erases the op and returns nullopt.
std::optional<llvm::SmallVector<mlir::Value>> finishControl(mlir::OpBuilder &b, mlir::Operation *op,
                                                            llvm::function_ref<void(const llvm::Twine &)> report);

/// Imports `graph` as region `region` of `op`, with block arguments of `types` named as its inputs. `count`: number of
/// possible values of argument 0 (Node::setCount).
mlir::LogicalResult importBody(Node &node, mlir::Operation *op, unsigned region, const ::onnx::GraphProto &graph,
                               llvm::ArrayRef<mlir::Type> types, std::optional<int64_t> count = std::nullopt);

/// The same for a node's op; also records the possible shapes of its results.
std::optional<llvm::SmallVector<mlir::Value>> finishControl(Node &node, mlir::Operation *op);

/// Sets the node's outputs.
mlir::LogicalResult setOutputs(Node &node, llvm::ArrayRef<mlir::Value> values);

/// A constant of `type`, which has one element.
mlir::Value constantScalar(Node &node, mlir::RankedTensorType type, int64_t value);

/// The declared type of scalar input `index` of `graph`: one element of `element`, rank 0 or 1.
mlir::RankedTensorType scalarInput(Node &node, const ::onnx::GraphProto &graph, int index, mlir::Type element);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_CONTROL_BODY_H
