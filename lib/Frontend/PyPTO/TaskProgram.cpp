#include "TaskProgram.h"

#include "pto_mlir/Dialect/Top/IR/Names.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {

using pypto::ir::NodeKind;

TaskProgram::TaskProgram(MLIRContext &context, const std::string &name, const pypto::ir::Span &span)
    : context(context), loc(locationOf(context, span)), b(&context) {
  context.loadDialect<func::FuncDialect, vm::VMDialect>();
  context.getLoadedDialect<vm::VMDialect>()->registerProgramOps();
  module = ModuleOp::create(loc, StringRef(name));
  b.setInsertionPointToEnd(module->getBody());
  main = b.create<func::FuncOp>(loc, "main", b.getFunctionType({}, {}));
  b.setInsertionPointToStart(main.addEntryBlock());
}

Type TaskProgram::memoryType(pypto::DataType dtype) {
  return RankedTensorType::get({ShapedType::kDynamic}, pypto_frontend::memoryType(context, dtype));
}

Value TaskProgram::port(const std::string &name, ArrayRef<int64_t> shape, pypto::DataType dtype, bool isPreset) {
  unsigned number = main.getNumArguments();
  main.insertArgument(number, RankedTensorType::get(shape, pypto_frontend::memoryType(context, dtype)),
                      b.getDictionaryAttr(b.getNamedAttr(top::kNameAttr, b.getStringAttr(name))), loc);
  if (isPreset)
    main.setArgAttr(number, vm::kPresetAttr, b.getUnitAttr());
  return main.getArgument(number);
}

Value TaskProgram::extent(Value given, int64_t axis) {
  return b.create<vm::DimOp>(loc, b.getI64Type(), given, b.getI64IntegerAttr(axis));
}

/// Tensors of one axis, whose extent is not part of the type.
static Type memoryLike(Value given) {
  return RankedTensorType::get({ShapedType::kDynamic}, cast<RankedTensorType>(given.getType()).getElementType());
}

Value TaskProgram::memoryOf(Value given, Value elements) {
  return b.create<vm::ReshapeOp>(loc, memoryLike(given), given, elements);
}

Value TaskProgram::number(Value given) {
  Value zero = constant(int64_t(0));
  return read(memoryOf(given, constant(int64_t(1))), zero);
}

Value TaskProgram::output(Value given, Value elements, bool isGiven) {
  Value memory = b.create<vm::NewOp>(loc, memoryLike(given), elements);
  if (isGiven) {
    b.create<vm::CopyOp>(loc, memory, memoryOf(given, elements));
    return memory;
  }
  Value count = constant(int64_t(1));
  for (int64_t axis = 0; axis < cast<RankedTensorType>(given.getType()).getRank(); ++axis)
    count = binary(NodeKind::Mul, count, extent(given, axis));
  Value none = binary(NodeKind::Eq, count, constant(int64_t(0))), all = binary(NodeKind::Eq, count, elements);
  check(NodeKind::Ne, binary(NodeKind::Or, none, all), constant(int64_t(0)),
        "an output is given with another number of elements than the program writes");
  Block *start = block(), *copy = addBlock();
  b.create<vm::CopyOp>(loc, memory, memoryOf(given, elements));
  Block *behind = addBlock();
  goOn(copy);
  branch(behind);
  goOn(start);
  branch(condition(none), behind, copy);
  goOn(behind);
  return memory;
}

OwningOpRef<ModuleOp> TaskProgram::finish(ArrayRef<Result> results) {
  SmallVector<Value> values;
  SmallVector<Attribute> names;
  for (const Result &result : results) {
    Type element = cast<RankedTensorType>(result.memory.getType()).getElementType();
    values.push_back(
        b.create<vm::ReshapeOp>(loc, RankedTensorType::get(result.shape, element), result.memory, result.extents));
    names.push_back(b.getDictionaryAttr(b.getNamedAttr(top::kNameAttr, b.getStringAttr(result.name))));
  }
  b.create<func::ReturnOp>(loc, values);
  main.setType(b.getFunctionType(main.getArgumentTypes(), ValueRange(values).getTypes()));
  main.setAllResultAttrs(names);
  return std::move(module);
}

Value TaskProgram::constant(int64_t value) { return b.create<vm::ConstI64Op>(loc, b.getI64Type(), value); }
Value TaskProgram::constant(double value) {
  return b.create<vm::ConstF64Op>(loc, b.getF64Type(), b.getF64FloatAttr(value));
}

Value TaskProgram::make(const char *kind, Value a, Value other) {
  return b.create<vm::BinaryOp>(loc, a.getType(), kind, a, other);
}

/// A comparison as i1; null for other kinds.
Value TaskProgram::compare(NodeKind kind, Value a, Value other) {
  constexpr NodeKind kinds[] = {NodeKind::Eq, NodeKind::Ne, NodeKind::Lt, NodeKind::Le, NodeKind::Gt, NodeKind::Ge};
  constexpr int64_t onFloats[] = {1, 13, 4, 5, 2, 3}; // ordered, but une
  const auto *found = llvm::find(kinds, kind);
  if (found == std::end(kinds))
    return {};
  int64_t number = found - std::begin(kinds);
  return b.create<vm::CompareOp>(loc, b.getI1Type(), mlir::isa<FloatType>(a.getType()) ? onFloats[number] : number, a,
                                 other);
}

Value TaskProgram::condition(Value number) {
  return compare(NodeKind::Ne, number, mlir::isa<FloatType>(number.getType()) ? constant(0.0) : constant(int64_t(0)));
}

Value TaskProgram::toFloat(Value integer) {
  if (mlir::isa<FloatType>(integer.getType()))
    return integer;
  return b.create<vm::ConvertOp>(loc, b.getF64Type(), integer, false);
}

Value TaskProgram::toInteger(Value number) {
  if (number.getType().isInteger(64))
    return number;
  return b.create<vm::ConvertOp>(loc, b.getI64Type(), number, number.getType().isInteger(1));
}

Value TaskProgram::binary(NodeKind kind, Value a, Value other) {
  if (Value truth = compare(kind, a, other))
    return toInteger(truth);
  bool isFloat = mlir::isa<FloatType>(a.getType());
  auto pick = [&](const char *onIntegers, const char *onFloats) -> Value {
    const char *name = isFloat ? onFloats : onIntegers;
    return name ? make(name, a, other) : Value();
  };
  switch (kind) {
  case NodeKind::Add:
    return pick("iadd", "fadd");
  case NodeKind::Sub:
    return pick("isub", "fsub");
  case NodeKind::Mul:
    return pick("imul", "fmul");
  case NodeKind::FloatDiv:
    return pick(nullptr, "fdiv");
  case NodeKind::FloorDiv:
    return pick("ifloordiv", nullptr);
  case NodeKind::FloorMod:
    return isFloat ? Value() : make("isub", a, make("imul", make("ifloordiv", a, other), other));
  case NodeKind::Min:
    return pick("imin", "fmin");
  case NodeKind::Max:
    return pick("imax", "fmax");
  case NodeKind::And:
    return toInteger(make("iand", condition(a), condition(other)));
  case NodeKind::Or:
    return toInteger(make("ior", condition(a), condition(other)));
  case NodeKind::BitAnd:
    return pick("iand", nullptr);
  case NodeKind::BitOr:
    return pick("ior", nullptr);
  case NodeKind::BitXor:
    return pick("ixor", nullptr);
  case NodeKind::BitShiftLeft:
    return pick("ishl", nullptr);
  case NodeKind::BitShiftRight:
    return pick("ishr", nullptr);
  default:
    return {};
  }
}

void TaskProgram::check(NodeKind kind, Value a, Value other, const std::string &message) {
  b.create<vm::AssertOp>(loc, compare(kind, a, other), b.getStringAttr(message));
}

Value TaskProgram::reserve(Value elements, pypto::DataType dtype) {
  return b.create<vm::ReserveOp>(loc, memoryType(dtype), elements);
}

Value TaskProgram::zeros(int64_t elements, pypto::DataType dtype) {
  return b.create<vm::NewOp>(loc, memoryType(dtype), constant(elements));
}

Value TaskProgram::read(Value memory, Value index) {
  Type element = cast<RankedTensorType>(memory.getType()).getElementType();
  bool isNumber = element.isF32() || element.isF64() || element.isSignlessInteger(1) || element.isSignlessInteger(8) ||
                  element.isSignlessInteger(16) || element.isSignlessInteger(32) || element.isSignlessInteger(64);
  if (!isNumber)
    return {};
  Value value = b.create<vm::LoadOp>(loc, element, memory, index);
  if (element.isF64() || element.isInteger(64))
    return value;
  if (element.isF32())
    return b.create<vm::ConvertOp>(loc, b.getF64Type(), value, false);
  return toInteger(value);
}

Value TaskProgram::part(Value memory, Value offset, int64_t count) {
  Type element = cast<RankedTensorType>(memory.getType()).getElementType();
  return b.create<vm::ViewOp>(loc, RankedTensorType::get({count}, element), memory, offset, ValueRange());
}

Value TaskProgram::part(Value memory, Value offset, Value count) {
  return b.create<vm::ViewOp>(loc, memory.getType(), memory, offset, count);
}

void TaskProgram::submit(const std::string &kernel, ArrayRef<Value> arguments, const std::string &directions,
                         bool isRanked) {
  b.create<vm::SubmitOp>(loc, vm::TaskType::get(&context), "device." + kernel, arguments, ValueRange(), directions,
                         isRanked);
}

Value TaskProgram::scalar(Value number, pypto::DataType dtype) {
  if (!dtype.IsFloat())
    return mlir::isa<FloatType>(number.getType()) ? Value() : number;
  return b.create<vm::ConvertOp>(loc, b.getF32Type(), toFloat(number), false);
}

void TaskProgram::branch(Block *target, ValueRange operands) { b.create<vm::BranchOp>(loc, operands, target); }

void TaskProgram::branch(Value condition, Block *taken, Block *other, ValueRange otherOperands) {
  b.create<vm::CondBranchOp>(loc, condition, ValueRange(), otherOperands, taken, other);
}

void TaskProgram::takeBack(Block *block, Block *last) {
  block->getTerminator()->erase();
  SmallVector<Block *> behind;
  for (auto next = std::next(last->getIterator()); next != main.getBody().end(); ++next)
    behind.push_back(&*next);
  for (Block *each : behind) {
    each->dropAllReferences();
    each->dropAllDefinedValueUses();
  }
  for (Block *each : behind)
    each->erase();
  b.setInsertionPointToEnd(block);
}

} // namespace pto_mlir::pypto_frontend
