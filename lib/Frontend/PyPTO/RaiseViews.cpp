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

/// A tensor of one column is one of layout DN to PyPTO, which matrices of the cube core are not loaded from: for those
/// it says its strides.
static ir::TypePtr withStrides(const ir::TypePtr &type, ArrayRef<Operation *> accesses) {
  auto tensor = ir::As<ir::TensorType>(type);
  if (tensor->shape_.size() != 2 || ir::ConstantInt(tensor->shape_[1]) != 1 || tensor->tensor_view_)
    return type;
  auto isOfCube = [](Value operand) {
    auto tile = dyn_cast<pto::TileBufType>(operand.getType());
    return tile && tile.getLoc() != pto::AddressSpace::vec;
  };
  for (Operation *access : accesses)
    for (Value view : access->getResults())
      for (Operation *part : view.getUsers())
        for (Operation *user : part->getUsers())
          if (llvm::any_of(user->getOperands(), isOfCube))
            return std::make_shared<const ir::TensorType>(
                tensor->shape_, tensor->dtype_, std::nullopt,
                ir::TensorView{{numberOf(1), numberOf(1)}, ir::TensorLayout::ND});
  return type;
}

/// Of `strides` a row and an element are apart.
static ir::TypePtr transposedType(ArrayRef<int64_t> strides, int64_t elements, DataType dtype) {
  std::vector<ir::ExprPtr> shape = {numberOf(strides.front()),
                                    numberOf(int64_t(llvm::divideCeil(elements, strides.front())))};
  ir::TensorView columns{{numberOf(1), numberOf(strides.front())}, ir::TensorLayout::DN};
  return std::make_shared<const ir::TensorType>(shape, dtype, std::nullopt, columns);
}

static ir::TypePtr arrayType(ArrayRef<int64_t> strides, int64_t elements, DataType dtype) {
  std::vector<int64_t> shape = {int64_t(llvm::divideCeil(elements, strides.front()))};
  for (size_t i = 1; i < strides.size(); ++i)
    shape.push_back(strides[i - 1] / strides[i]);
  return std::make_shared<const ir::TensorType>(shape, dtype);
}

FailureOr<ir::TypePtr> Raiser::tensorType(ArrayRef<func::FuncOp> functions, unsigned number, DataType dtype) {
  SmallVector<Operation *> found;
  for (func::FuncOp func : functions)
    if (failed(accesses(func.getArgument(number), found)))
      return failure();
  if (found.empty()) // whatever it is, nothing depends on it
    return ir::TypePtr(std::make_shared<const ir::TensorType>(std::vector<int64_t>{1}, dtype));
  ir::TypePtr whole = wholeType(found.front(), dtype);
  auto isWhole = [&](Operation *access) {
    ir::TypePtr own = wholeType(access, dtype);
    return own && ir::structural_equal(own, whole);
  };
  if (whole && llvm::all_of(found, isWhole))
    return withStrides(whole, found);
  int64_t elements = 0;
  SmallVector<Rows> windows;
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
      windows.push_back(*rows);
    }
  }
  if (windows.empty())
    return ir::TypePtr(std::make_shared<const ir::TensorType>(std::vector<int64_t>{elements}, dtype));
  std::string why;
  auto shapes = arraysOf(windows, elements, why);
  if (!shapes)
    return func::FuncOp(functions[0]).emitError("argument ") << number << ": a window of it " << why;
  Value argument = func::FuncOp(functions[0]).getArgument(number);
  for (SmallVector<int64_t> &strides : *shapes)
    arrays[argument].push_back({strides, variable("x", withStrides(arrayType(strides, elements, dtype), found))});
  for (SmallVector<int64_t> &strides : *shapes) {
    auto isTransposed = [&](const Rows &rows) { return rows.isTransposed && pypto_frontend::isOf(rows, strides); };
    auto found = llvm::find_if(windows, isTransposed);
    if (found == windows.end())
      continue;
    if (strides.size() != 2)
      return func::FuncOp(functions[0]).emitError("argument ")
             << number << ": a window of its columns is of an array of " << strides.size()
             << " axes, for which PyPTO has no form";
    arrays[argument].push_back({strides, variable("x", transposedType(strides, elements, dtype)), true});
  }
  return arrays[argument][0].tensor->type_;
}

bool Raiser::isOf(const Rows &rows, const Array &array) {
  return rows.isTransposed == array.isTransposed && pypto_frontend::isOf(rows, array.strides);
}

void Raiser::otherShapes(Value argument, ArrayRef<Array> shapes) {
  SmallVector<Array> &own = arrays[argument];
  own.assign(shapes.begin(), shapes.end());
  own[0].tensor = tensors[argument];
  SmallVector<Operation *> found;
  (void)accesses(argument, found);
  llvm::SmallPtrSet<const Array *, 4> used;
  for (Operation *access : found)
    for (Value view : access->getResults())
      for (Operation *user : view.getUsers())
        if (auto part = dyn_cast<pto::PartitionViewOp>(user))
          if (FailureOr<Rows> rows = rowsOf(part); succeeded(rows))
            used.insert(llvm::find_if(own, [&](const Array &array) { return isOf(*rows, array); }));
  for (Array &array : MutableArrayRef(own).drop_front())
    if (used.contains(&array)) {
      ir::TypePtr type = array.tensor->type_;
      auto shape = std::make_shared<const ir::MakeTuple>(*ir::ShapeOf(type), ir::Span());
      array.tensor =
          assign("x", type,
                 ir::CreateOp("tensor.view", {{"", ir::ExprPtr(own[0].tensor)}, {"", ir::ExprPtr(shape)}}, ir::Span()));
    }
}

LogicalResult Raiser::parameters(func::FuncOp func, ArrayRef<func::FuncOp> whole) {
  for (BlockArgument argument : func.getArguments()) {
    if (isOfCores(argument))
      continue;
    std::string name = "a" + std::to_string(argument.getArgNumber());
    auto pointer = dyn_cast<pto::PtrType>(argument.getType());
    auto dtype = dtypeOf(pointer ? pointer.getElementType() : argument.getType());
    if (!dtype)
      return func.emitError("argument ") << argument.getArgNumber() << " has no type in PyPTO";
    FailureOr<ir::TypePtr> type = ir::TypePtr(std::make_shared<const ir::ScalarType>(*dtype));
    if (pointer)
      type = tensorType(whole, argument.getArgNumber(), *dtype);
    if (failed(type))
      return failure();
    params.push_back(std::make_shared<const ir::Var>(name, *type, ir::Span()));
    if (pointer) {
      tensors[argument] = params.back();
      if (auto found = arrays.find(func::FuncOp(whole[0]).getArgument(argument.getArgNumber())); found != arrays.end())
        otherShapes(argument, SmallVector<Array>(found->second));
    } else
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
  auto shapes = arrays.find(argument);
  if (shapes == arrays.end()) {
    FailureOr<ir::ExprPtr> offsets = list(op, part.getOffsets()), sizes = list(op, part.getSizes());
    if (failed(offsets) || failed(sizes))
      return failure();
    return Window{tensor, *offsets, *sizes};
  }
  FailureOr<Rows> rows = rowsOf(part);
  const Array &array = *llvm::find_if(shapes->second, [&](const Array &each) { return isOf(*rows, each); });
  FailureOr<ir::ExprPtr> offsets = places(op, rows->first, array.strides);
  if (failed(offsets))
    return failure();
  std::vector<ir::ExprPtr> sizes;
  for (int64_t stride : ArrayRef(array.strides).drop_back()) {
    const Rows::Axis *axis = llvm::find_if(rows->axes, [&](const Rows::Axis &axis) { return axis.stride == stride; });
    sizes.push_back(axis == rows->axes.end() ? numberOf(1) : sum(op, formOf(axis->size)));
  }
  sizes.push_back(sum(op, formOf(rows->cols)));
  if (llvm::is_contained(sizes, nullptr))
    return failure();
  if (array.isTransposed) {
    const std::vector<ir::ExprPtr> &first = ir::As<ir::MakeTuple>(*offsets)->elements_;
    offsets =
        ir::ExprPtr(std::make_shared<const ir::MakeTuple>(std::vector<ir::ExprPtr>{first[1], first[0]}, ir::Span()));
    std::swap(sizes[0], sizes[1]);
  }
  return Window{array.tensor, *offsets, std::make_shared<const ir::MakeTuple>(sizes, ir::Span())};
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

std::vector<ir::ParamDirection> Raiser::directions(ArrayRef<func::FuncOp> whole) {
  std::vector<ir::ParamDirection> directions;
  for (BlockArgument argument : func::FuncOp(whole[0]).getArguments()) {
    if (isOfCores(argument))
      continue;
    bool read = false, written = false;
    SmallVector<Operation *> found;
    if (mlir::isa<pto::PtrType>(argument.getType()))
      for (func::FuncOp func : whole)
        (void)accesses(func.getArgument(argument.getArgNumber()), found);
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
