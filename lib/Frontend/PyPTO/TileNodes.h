// Nodes that the walk over operations on tensors makes often.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_TILENODES_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_TILENODES_H

#include "Types.h"

#include "pypto/ir/op_registry.h"
#include "pypto/ir/stmt.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

inline ir::ExprPtr number(int64_t value) {
  return std::make_shared<const ir::ConstInt>(value, pypto::DataType::INDEX, ir::Span::unknown());
}

inline ir::ExprPtr tuple(std::vector<ir::ExprPtr> elements) {
  return std::make_shared<const ir::MakeTuple>(std::move(elements), ir::Span::unknown());
}

inline ir::ExprPtr sum(const ir::ExprPtr &a, int64_t b) {
  if (auto known = ir::ConstantInt(a))
    return number(*known + b);
  return b ? ir::ExprPtr(ir::MakeBinary(ir::NodeKind::Add, a, number(b), pypto::DataType::INDEX, a->span_)) : a;
}

inline ir::ExprPtr sum(const ir::ExprPtr &a, const ir::ExprPtr &b) {
  if (auto known = ir::ConstantInt(b))
    return sum(a, *known);
  if (auto known = ir::ConstantInt(a))
    return sum(b, *known);
  return ir::MakeBinary(ir::NodeKind::Add, a, b, pypto::DataType::INDEX, a->span_);
}

inline ir::StmtPtr sequence(std::vector<ir::StmtPtr> stmts, const ir::Span &span) {
  return std::make_shared<const ir::SeqStmts>(std::move(stmts), span);
}

/// The same loop, scope or function around other statements.
template <class T> std::shared_ptr<const T> withBody(const T &around, ir::StmtPtr body) {
  auto made = std::make_shared<T>(around);
  made->body_ = std::move(body);
  return made;
}

/// Makes a tensor of the variable's shape and element type in global memory.
inline ir::StmtPtr creationOf(const ir::VarPtr &tensor) {
  ir::Attrs arguments = {{"", *ir::ShapeOf(tensor->type_)}, {"dtype", *ir::ElementTypeOf(tensor->type_)}};
  return std::make_shared<const ir::AssignStmt>(
      tensor, ir::CreateOp("tensor.create_tensor", std::move(arguments), tensor->span_), tensor->span_);
}

/// What a statement binds or evaluates; null for other statements.
inline ir::ExprPtr expressionOf(const ir::StmtPtr &stmt) {
  auto assign = ir::As<ir::AssignStmt>(stmt);
  auto eval = ir::As<ir::EvalStmt>(stmt);
  return assign ? assign->value_ : eval ? eval->expr_ : nullptr;
}

/// Whether a call is pl.aiv_shard or pl.aic_gather (`name`).
inline bool isExchange(const ir::Call &call, std::string_view name) {
  const std::string &full = call.op_->name_;
  return full == "tile." + std::string(name) || full == "tensor." + std::string(name);
}

inline std::vector<ir::ExprPtr> zeros(size_t count) { return std::vector<ir::ExprPtr>(count, number(0)); }

inline const std::vector<ir::ExprPtr> &shapeOf(const ir::VarPtr &var) { return *ir::ShapeOf(var->type_); }

/// The memory space that the type of a tile says.
inline std::optional<ir::MemorySpace> spaceOf(const ir::ExprPtr &tile) {
  auto type = ir::As<ir::TileType>(tile->type_);
  return type ? type->GetMemorySpace() : std::nullopt;
}

/// Operations whose result is another view of the memory of their first operand.
inline bool isViewOfTensor(std::string_view op) {
  return op == "tensor.slice" || op == "tensor.view" || op == "tensor.reshape" || op == "tensor.transpose";
}

/// What a tensor or tile says of how much of it holds data; empty for all.
inline std::vector<ir::ExprPtr> validOf(const ir::TypePtr &type) {
  if (auto tile = ir::As<ir::TileType>(type))
    return tile->tile_view_ ? tile->tile_view_->valid_shape : std::vector<ir::ExprPtr>();
  auto tensor = ir::As<ir::TensorType>(type);
  return tensor && tensor->tensor_view_ ? tensor->tensor_view_->valid_shape : std::vector<ir::ExprPtr>();
}

/// Extents of a shape of two axes; one axis is a row.
inline std::pair<int64_t, int64_t> extentsOf(const std::vector<ir::ExprPtr> &shape, const ir::Span &span) {
  int64_t rows = 1, columns = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    auto extent = ir::ConstantInt(shape[axis]);
    if (!extent)
      fail(span, "operations on tensors need extents that are known when the program is compiled");
    (axis + 1 == shape.size() ? columns : rows) *= *extent;
  }
  return {rows, columns};
}

} // namespace pto_mlir::pypto_frontend

#endif
