// Pointers of kernels as PyPTO's tensors, and where their windows lie.
#include "RaiseMatrix.h"
#include "Raiser.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pypto/ir/structural.h"

using namespace mlir;
using pypto::DataType;

namespace pto_mlir::pypto_frontend {

/// Views and elements that are reached through a pointer, or one ahead of it.
static LogicalResult accesses(Value pointer, SmallVectorImpl<Operation *> &found) {
  for (Operation *user : pointer.getUsers()) {
    if (auto next = dyn_cast<pto::AddPtrOp>(user)) {
      if (failed(accesses(next.getResult(), found)))
        return failure();
    } else if (mlir::isa<pto::MakeTensorViewOp, pto::LoadScalarOp, pto::StoreScalarOp>(user)) {
      found.push_back(user);
    } else {
      return user->emitOpError("uses a pointer in a way that PyPTO has no form for");
    }
  }
  return success();
}

/// The argument of a load or store of one element, and the element's number.
static std::pair<Value, LinearForm> elementOf(Operation *op) {
  auto load = dyn_cast<pto::LoadScalarOp>(op);
  auto store = dyn_cast<pto::StoreScalarOp>(op);
  auto [argument, form] = baseOf(load ? load.getPtr() : store.getPtr());
  form.add(load ? load.getOffset() : store.getOffset(), 1);
  return {argument, form};
}

/// The type of a tensor that is a whole argument, row by row or column by column; null where the view is none of it.
static ir::TypePtr wholeType(Operation *access, DataType dtype) {
  auto view = dyn_cast<pto::MakeTensorViewOp>(access);
  if (!view || view.getPtr().getDefiningOp())
    return nullptr;
  auto sizes = getConstantIntValues(getAsOpFoldResult(view.getShape()));
  auto strides = getConstantIntValues(getAsOpFoldResult(view.getStrides()));
  if (!sizes || !strides || sizes->empty() || sizes->size() > 2)
    return nullptr;
  bool isMatrix = sizes->size() == 2, isColumn = sizes->back() == 1;
  if (isMatrix && view.getLayout() == pto::Layout::dn && *strides == SmallVector<int64_t>{1, (*sizes)[0]} &&
      !isColumn) {
    ir::TensorView columns{{numberOf(1), numberOf((*sizes)[0])}, ir::TensorLayout::DN};
    std::vector<ir::ExprPtr> shape = {numberOf((*sizes)[0]), numberOf((*sizes)[1])};
    return std::make_shared<const ir::TensorType>(shape, dtype, std::nullopt, columns);
  }
  bool isDense = (strides->back() == 1 || isColumn) && (!isMatrix || (*strides)[0] == (*sizes)[1] || (*sizes)[0] == 1);
  if (!isDense || (view.getLayout() && *view.getLayout() != pto::Layout::nd && !isColumn))
    return nullptr;
  return std::make_shared<const ir::TensorType>(std::vector<int64_t>(sizes->begin(), sizes->end()), dtype);
}

FailureOr<ir::TypePtr> Raiser::tensorType(func::FuncOp func, BlockArgument argument, DataType dtype) {
  SmallVector<Operation *> found;
  if (failed(accesses(argument, found)))
    return failure();
  if (found.empty())
    return func.emitError("argument ") << argument.getArgNumber() << " has no view that would say its shape";
  ir::TypePtr whole = wholeType(found.front(), dtype);
  auto isWhole = [&](Operation *access) {
    ir::TypePtr own = wholeType(access, dtype);
    return own && ir::structural_equal(own, whole);
  };
  if (whole && llvm::all_of(found, isWhole))
    return whole;
  int64_t elements = 0;
  SmallVector<std::pair<Operation *, Rows>> windows;
  auto include = [&](Operation *op, std::optional<int64_t> most) -> LogicalResult {
    elements = std::max(elements, most.value_or(0));
    return most ? success()
                : op->emitOpError("reaches elements of the argument whose number is known at run time only");
  };
  for (Operation *access : found) {
    auto view = dyn_cast<pto::MakeTensorViewOp>(access);
    if (!view) {
      LinearForm behind = elementOf(access).second;
      behind.constant += 1;
      if (failed(include(access, boundsOf(behind).most)))
        return failure();
      continue;
    }
    for (Operation *user : view.getResult().getUsers()) {
      auto part = dyn_cast<pto::PartitionViewOp>(user);
      if (!part)
        return user->emitOpError("uses a view in a way that PyPTO has no form for");
      FailureOr<Rows> rows = rowsOf(part);
      if (failed(rows) || failed(include(part, reach(*rows))))
        return failure();
      windows.emplace_back(part, *rows);
    }
  }
  std::vector<int64_t> shape = {elements};
  if (!windows.empty()) {
    FailureOr<SmallVector<int64_t>> strides = stridesOf(windows, elements);
    if (failed(strides))
      return failure();
    shape = {int64_t(llvm::divideCeil(elements, strides->front()))};
    for (size_t i = 1; i < strides->size(); ++i)
      shape.push_back((*strides)[i - 1] / (*strides)[i]);
    arrays[argument] = std::move(*strides);
  }
  return ir::TypePtr(std::make_shared<const ir::TensorType>(shape, dtype));
}

LogicalResult Raiser::parameters(func::FuncOp func) {
  for (BlockArgument argument : func.getArguments()) {
    std::string name = "a" + std::to_string(argument.getArgNumber());
    auto pointer = dyn_cast<pto::PtrType>(argument.getType());
    auto dtype = dtypeOf(pointer ? pointer.getElementType() : argument.getType());
    if (!dtype)
      return func.emitError("argument ") << argument.getArgNumber() << " has no type in PyPTO";
    FailureOr<ir::TypePtr> type = ir::TypePtr(std::make_shared<const ir::ScalarType>(*dtype));
    if (pointer)
      type = tensorType(func, argument, *dtype);
    if (failed(type))
      return failure();
    params.push_back(std::make_shared<const ir::Var>(name, *type, ir::Span()));
    if (pointer)
      tensors[argument] = params.back();
    else
      scalars[argument] = params.back();
  }
  return success();
}

/// An expression for each part of a sum that is a multiple of a stride, the strides falling.
FailureOr<ir::ExprPtr> Raiser::places(Operation *op, LinearForm form, ArrayRef<int64_t> strides) {
  std::vector<ir::ExprPtr> indices;
  for (int64_t stride : strides) {
    auto [whole, rest] = split(form, stride);
    indices.push_back(sum(op, whole));
    if (!indices.back())
      return failure();
    form = rest;
  }
  return ir::ExprPtr(std::make_shared<const ir::MakeTuple>(indices, ir::Span()));
}

FailureOr<Raiser::Window> Raiser::window(Operation *op, Value value) {
  auto part = value.getDefiningOp<pto::PartitionViewOp>();
  auto view = part ? part.getSource().getDefiningOp<pto::MakeTensorViewOp>() : nullptr;
  if (!view)
    return op->emitOpError("has no form in PyPTO: it moves a tile from or to a window of an argument");
  Value argument = baseOf(view.getPtr()).first;
  ir::VarPtr tensor = tensors.lookup(argument);
  if (!tensor)
    return op->emitOpError("moves what is no argument");
  auto strides = arrays.find(argument);
  if (strides == arrays.end()) {
    FailureOr<ir::ExprPtr> offsets = list(op, part.getOffsets()), sizes = list(op, part.getSizes());
    if (failed(offsets) || failed(sizes))
      return failure();
    return Window{tensor, *offsets, *sizes};
  }
  FailureOr<Rows> rows = rowsOf(part);
  FailureOr<ir::ExprPtr> offsets = places(op, rows->first, strides->second);
  if (failed(offsets))
    return failure();
  std::vector<ir::ExprPtr> sizes;
  for (int64_t stride : ArrayRef(strides->second).drop_back()) {
    const Rows::Axis *axis = llvm::find_if(rows->axes, [&](const Rows::Axis &axis) { return axis.stride == stride; });
    sizes.push_back(axis == rows->axes.end() ? numberOf(1) : sum(op, formOf(axis->size)));
  }
  sizes.push_back(sum(op, formOf(rows->cols)));
  if (llvm::is_contained(sizes, nullptr))
    return failure();
  return Window{tensor, *offsets, std::make_shared<const ir::MakeTuple>(sizes, ir::Span())};
}

LogicalResult Raiser::element(Operation *op) {
  auto [argument, form] = elementOf(op);
  ir::VarPtr tensor = tensors.lookup(argument);
  if (!tensor)
    return op->emitOpError("reaches an element of what is no argument");
  SmallVector<int64_t> strides(1, 1);
  const std::vector<ir::ExprPtr> &shape = *ir::ShapeOf(tensor->type_);
  for (size_t i = shape.size(); i-- > 1;)
    strides.insert(strides.begin(), strides.front() * *ir::ConstantInt(shape[i]));
  FailureOr<ir::ExprPtr> at = places(op, form, strides);
  if (failed(at))
    return failure();
  if (mlir::isa<pto::LoadScalarOp>(op))
    return evaluate(op, "tensor.read", {{"", ir::ExprPtr(tensor)}, {"", *at}});
  ir::ExprPtr value = scalar(op, cast<pto::StoreScalarOp>(op).getValue());
  return value ? evaluate(op, "tensor.write", {{"", ir::ExprPtr(tensor)}, {"", *at}, {"", value}}) : failure();
}

std::vector<ir::ParamDirection> Raiser::directions(func::FuncOp func) {
  std::vector<ir::ParamDirection> directions;
  for (BlockArgument argument : func.getArguments()) {
    bool read = false, written = false;
    SmallVector<Operation *> found;
    if (mlir::isa<pto::PtrType>(argument.getType()))
      (void)accesses(argument, found);
    for (Operation *access : found) {
      read |= mlir::isa<pto::LoadScalarOp>(access);
      written |= mlir::isa<pto::StoreScalarOp>(access);
      for (Value view : access->getResults())
        for (Operation *part : view.getUsers())
          for (Operation *user : part->getUsers())
            (mlir::isa<pto::TStoreOp>(user) ? written : read) = true;
    }
    directions.push_back(!written ? ir::ParamDirection::In
                         : read   ? ir::ParamDirection::InOut
                                  : ir::ParamDirection::Out);
  }
  return directions;
}

} // namespace pto_mlir::pypto_frontend
