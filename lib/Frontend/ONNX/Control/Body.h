// Regions of control-flow ops while they are imported.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_CONTROL_BODY_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_CONTROL_BODY_H

#include "../Node.h"

namespace pto_mlir::onnx {

/// An op (top.if, top.loop, top.scan) without results, where the builder stands; it belongs to the caller until
/// `finishControl`.
mlir::Operation *makeControl(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef opName, mlir::ValueRange operands,
                             llvm::ArrayRef<mlir::NamedAttribute> attributes, unsigned numRegions);
mlir::Operation *makeControl(Node &node, llvm::StringRef opName, mlir::ValueRange operands,
                             llvm::ArrayRef<mlir::NamedAttribute> attributes, unsigned numRegions);
/// Gives `op`, whose regions are there, its result types; the builder then stands behind it. The op is gone after an
/// error, which is reported.
std::optional<llvm::SmallVector<mlir::Value>> finishControl(mlir::OpBuilder &b, mlir::Operation *op,
                                                            llvm::function_ref<void(const llvm::Twine &)> report);

/// Imports `graph` as region `region` of `op`, with block arguments of `types` named as its inputs. `count`: how many
/// values argument 0 may have (Node::setCount).
mlir::LogicalResult importBody(Node &node, mlir::Operation *op, unsigned region, const ::onnx::GraphProto &graph,
                               llvm::ArrayRef<mlir::Type> types, std::optional<int64_t> count = std::nullopt);

/// The same for a node's op; shapes that results may have are noted.
std::optional<llvm::SmallVector<mlir::Value>> finishControl(Node &node, mlir::Operation *op);

/// Makes values the node's outputs.
mlir::LogicalResult setOutputs(Node &node, llvm::ArrayRef<mlir::Value> values);

/// A constant with one element, which has the type's rank.
mlir::Value constantScalar(Node &node, mlir::RankedTensorType type, int64_t value);

/// The type of a scalar input of `graph` as it is declared there: one element of `element`, of rank 0 or 1.
mlir::RankedTensorType scalarInput(Node &node, const ::onnx::GraphProto &graph, int index, mlir::Type element);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_CONTROL_BODY_H
