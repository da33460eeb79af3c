// Operations on tensors as those on tiles.
#include "TileNodes.h"
#include "Tiler.h"
#include "Types.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

ir::StmtPtr Tiler::storeOf(const ir::VarPtr &tile, const ir::VarPtr &tensor) {
  ir::CallPtr call = ir::CreateOp("tile.store", {tile, tuple(zeros(shapeOf(tensor).size())), tensor}, tensor->span_);
  return std::make_shared<const ir::EvalStmt>(call, tensor->span_);
}

std::optional<Window> Tiler::windowOf(const ir::ExprPtr &tensor) const {
  if (auto call = ir::As<ir::Call>(tensor); call && call->op_->name_ == "tensor.slice")
    return sliced(ir::OpView(*call));
  auto var = ir::As<ir::Var>(tensor);
  if (!var || tiles.count(var.get()))
    return std::nullopt;
  refuseLate(var);
  if (auto found = windows.find(var.get()); found != windows.end())
    return found->second;
  return Window{var, zeros(shapeOf(var).size()), shapeOf(var), shapeOf(var), validOf(var->type_)};
}

/// A view of a tensor in global memory; nothing for a slice of a computed one.
std::optional<Window> Tiler::sliced(const ir::OpView &view) const {
  auto window = windowOf(view.Operand("x"));
  if (!window)
    return std::nullopt;
  if (view.Elements("offset").size() != window->offsets.size())
    fail(place, "a view needs an offset for each axis");
  std::vector<ir::ExprPtr> dropped = view.Elements("drop_dims"), valid = view.Elements("valid_shape");
  bool isPart = !valid.empty() || !window->valid.empty();
  if (window->shape.size() != window->extents.size() || (isPart && !dropped.empty()))
    fail(place, "this view of a view, or one with valid_shape that drops axes, is not lowered yet inside a kernel");
  if (!window->valid.empty()) // of what the other view holds
    valid = validOf(ir::CreateOp("tensor.slice",
                                 {{"", view.Operand("x")}, {"", view.Operand("shape")}, {"", view.Operand("offset")}},
                                 place)
                        ->type_);
  window->valid = std::move(valid);
  window->extents = view.Elements("shape");
  std::vector<ir::ExprPtr> offsets = view.Elements("offset");
  for (size_t axis = 0; axis < offsets.size(); ++axis) {
    auto known = ir::ConstantInt(offsets[axis]);
    window->offsets[axis] =
        known ? sum(window->offsets[axis], *known)
              : ir::MakeBinary(ir::NodeKind::Add, window->offsets[axis], offsets[axis], pypto::DataType::INDEX, place);
  }
  window->shape = window->extents;
  for (size_t i = dropped.size(); i-- > 0;) {
    int64_t axis = ir::ConstantInt(dropped[i]).value_or(-1);
    if (axis < 0 || size_t(axis) >= window->shape.size())
      fail(place, "the view has no such axis to drop");
    window->shape.erase(window->shape.begin() + axis);
  }
  if (window->shape.empty())
    window->shape = {number(1)};
  return window;
}

ir::CallPtr Tiler::loadOf(const Window &window, ir::Attrs keywords) {
  std::vector<ir::ExprPtr> operands{window.tensor, tuple(window.offsets), tuple(window.extents)};
  if (!window.valid.empty())
    operands.push_back(tuple(window.valid));
  return make("tile.load", std::move(operands), std::move(keywords));
}

ir::VarPtr Tiler::load(const Window &window) {
  ir::VarPtr loaded = bind(loadOf(window, {}));
  return window.shape.size() == window.extents.size() ? loaded : reshaped(loaded, window.shape);
}

ir::VarPtr Tiler::reshaped(const ir::VarPtr &tile, const std::vector<ir::ExprPtr> &shape) {
  return bind(make("tile.reshape", {tile, tuple(shape)}));
}

/// The operand as a tile for vector operations.
ir::VarPtr Tiler::tile(const ir::ExprPtr &operand) {
  ir::VarPtr held = ir::As<ir::Var>(rewritten(operand));
  if (held && ir::IsA<ir::TensorType>(held->type_))
    return load(*windowOf(held));
  if (!held || !ir::IsA<ir::TileType>(held->type_))
    fail(place, "a tensor or tile is needed here");
  if (auto space = spaceOf(held); space && *space != ir::MemorySpace::Vec)
    fail(place,
         "a matrix product and operations on its elements in one scope are not lowered yet; store the product to "
         "a tensor and go on in a second scope");
  return held;
}

ir::VarPtr Tiler::compute(const ir::CallPtr &call) {
  ir::OpView view(*call);
  if (!view.row())
    return nullptr;
  std::string_view op = view.row()->name.substr(7); // behind "tensor."
  if (op == "dim")
    return nullptr;
  if (op == "read" || op == "write") { // of global memory
    auto var = ir::As<ir::Var>(view.Operand("x"));
    if (var && windows.count(var.get()))
      fail(place, "an element of a view that is made inside the kernel; name that of the tensor");
    if (!var || !tileOf(var.get()))
      return nullptr;
    fail(place, "an element of a tensor that the kernel computes is not lowered yet; store it first");
  }
  if (op == "matmul" && partOf && isPlain(view))
    return product(cut(contraction(view, call)), nullptr);
  if (op == "matmul")
    return isPlain(view) ? product(contraction(view, call), nullptr) : generalProduct(view, nullptr);
  if (op == "matmul_acc")
    return accumulated(view, call);
  if (op == "matmul_bias")
    return biasedProduct(view);
  if (op == "cast")
    if (ir::VarPtr narrowed = narrowedProduct(view))
      return narrowed;
  if (op == "slice") {
    if (auto window = sliced(view))
      return load(*window);
    return byName(view, call);
  }
  if (op == "gather")
    return gathered(view, call);
  if (op == "scatter")
    return scattered(view, call);
  if (op == "expand_clone")
    return expanded(view);
  if (op == "cmp" || op == "cmps")
    return compared(view, call);
  if (op == "create_tensor") {
    ir::Attrs keywords = made && accumulators.has(made) ? in(ir::MemorySpace::Acc) : ir::Attrs();
    keywords.emplace_back("dtype", *view.Keyword("dtype"));
    bool isPart = partOf && made && accumulators.has(made);
    return bind(make("tile.create",
                     {isPart ? tuple({number(partOf->rows), number(partOf->columns)}) : view.Operand("shape")},
                     keywords));
  }
  if (op == "assemble") // into what the kernel computes: an output is stored to
    return bind(make("tile.assemble",
                     {tile(view.Operand("target")), tile(view.Operand("source")), view.Operand("offset")},
                     call->kwargs_));
  if (llvm::is_contained({"add", "sub", "mul", "div", "maximum", "minimum"}, op))
    return elementwise(view, call);
  return byName(view, call);
}

/// The operation of the same name on tiles. Columns go as rows, which is how their elements lie.
ir::VarPtr Tiler::byName(const ir::OpView &view, const ir::CallPtr &call) {
  std::string op = "tile." + std::string(view.row()->name.substr(7));
  if (!ir::FindOp(op))
    fail(place, std::string(view.row()->name) + " is not lowered yet");
  std::vector<ir::ExprPtr> shape;
  bool isElementwise = view.row()->rule == ir::OpRule::Like || view.row()->rule == ir::OpRule::Promote;
  ir::Attrs arguments;
  std::optional<Window> rows; ///< of which pl.gather_row takes some
  size_t operands = 0;
  for (const ir::OpParam &param : view.row()->params) {
    ir::ExprPtr operand = param.operand ? view.Operand(param.name) : nullptr;
    if (!operand)
      continue;
    if (op == "tile.gather_row" && param.name == "src") { // rows are loaded one by one
      rows = windowOf(operand);
      if (!rows || rows->shape.size() != rows->extents.size())
        fail(place, "pl.gather_row takes rows of a tensor in global memory");
      operand = rows->tensor;
    } else if (rows && param.name == "src_offset") {
      std::vector<ir::ExprPtr> at = view.Elements("src_offset");
      for (size_t axis = 0; axis < at.size() && axis < rows->offsets.size(); ++axis)
        at[axis] = sum(rows->offsets[axis], at[axis]);
      operand = tuple(std::move(at));
    } else if (ir::IsA<ir::TensorType>(operand->type_)) {
      operand = tile(operand);
      ++operands;
    }
    arguments.emplace_back(std::string(param.name), operand);
  }
  const std::vector<ir::ExprPtr> *result = ir::ShapeOf(call->type_);
  bool column = isElementwise && operands == 1 && result && result->size() == 2 && ir::ConstantInt((*result)[1]) == 1 &&
                ir::ConstantInt((*result)[0]) != 1;
  if (column) {
    shape = *result;
    for (auto &[param, value] : arguments)
      if (auto *expr = std::get_if<ir::ExprPtr>(&value); expr && ir::IsA<ir::TileType>((*expr)->type_))
        value = ir::ExprPtr(reshaped(ir::As<ir::Var>(*expr), {shape[1], shape[0]}));
  }
  for (const auto &keyword : call->kwargs_)
    arguments.push_back(keyword);
  ir::VarPtr made = bind(ir::CreateOp(op, std::move(arguments), place));
  return column ? reshaped(made, shape) : made;
}

/// An operand of two; one of half precision beside FP32 is widened, which changes no value.
ir::VarPtr Tiler::operandOf(const ir::ExprPtr &operand, pypto::DataType result) {
  ir::VarPtr held = tile(operand);
  pypto::DataType type = *ir::ElementTypeOf(held->type_);
  bool isHalf = type == pypto::DataType::BF16 || type == pypto::DataType::FP16;
  if (!isHalf || result != pypto::DataType::FP32)
    return held;
  return bind(make("tile.cast", {held}, {{"target_type", result}}));
}

/// Two operands; a column [M, 1] or a row [1, N] on one side is repeated.
ir::VarPtr Tiler::elementwise(const ir::OpView &view, const ir::CallPtr &call) {
  std::string op(view.row()->name.substr(7));
  pypto::DataType result = *ir::ElementTypeOf(call->type_);
  ir::VarPtr left = operandOf(view.Operand("lhs"), result), right = operandOf(view.Operand("rhs"), result);
  auto a = extentsOf(shapeOf(left), place), b = extentsOf(shapeOf(right), place);
  if (a == b) {
    bool column = a.second == 1 && a.first != 1;
    if (!column)
      return bind(make("tile." + op, {left, right}, call->kwargs_));
    std::vector<ir::ExprPtr> row{number(1), number(a.first)};
    ir::VarPtr first = reshaped(left, row), second = left == right ? first : reshaped(right, row);
    return reshaped(bind(make("tile." + op, {first, second}, call->kwargs_)), *ir::ShapeOf(call->type_));
  }
  if (a.first * a.second < b.first * b.second) {
    if (op == "sub" || op == "div")
      fail(place, op + " of a smaller tensor by a greater one is not lowered yet; expand it first");
    std::swap(left, right);
    std::swap(a, b);
  }
  std::string suffix = op == "maximum" ? "max" : op == "minimum" ? "min" : op;
  if (b.second == 1 && b.first == a.first)
    return bind(make("tile.row_expand_" + suffix, {left, right}));
  if (b.first == 1 && b.second == a.second)
    return bind(make("tile.col_expand_" + suffix, {left, right}));
  fail(place, "operands of these shapes are not repeated; one must be [M, 1] or [1, N]");
}

/// A window of `target` in global memory as a store; null where the target is computed.
ir::CallPtr Tiler::assembled(const ir::OpView &view, const ir::CallPtr &call) {
  auto window = windowOf(view.Operand("target"));
  if (!window)
    return nullptr;
  if (view.row()->name == "tensor.expand_clone")
    return make("tile.store", {expanded(view), tuple(window->offsets), window->tensor});
  ir::ExprPtr source = rewritten(view.Operand("source"));
  if (ir::IsA<ir::TensorType>(source->type_))
    source = tile(source);
  if (auto type = ir::As<ir::TileType>(source->type_); type && type->GetMemorySpace() == ir::MemorySpace::Acc)
    checkStored(*ir::ElementTypeOf(view.Operand("source")->type_), *ir::ElementTypeOf(window->tensor->type_));
  std::vector<ir::ExprPtr> offset = view.Elements("offset");
  for (size_t axis = 0; axis < offset.size() && axis < window->offsets.size(); ++axis)
    if (auto known = ir::ConstantInt(window->offsets[axis]); !known || *known)
      fail(place, "assemble into a view that is made inside the kernel; make it before the scope");
  return make("tile.store", {source, tuple(offset), window->tensor}, call->kwargs_);
}

} // namespace pto_mlir::pypto_frontend
