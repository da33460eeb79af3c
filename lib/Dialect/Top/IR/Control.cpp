// top.if, top.loop, top.scan: inference and verification of result and argument types.
#include "pto_mlir/Dialect/Top/IR/Control.h"
#include "mlir/Support/DebugStringHelper.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/FileTypes.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/HostOps/TensorOps.h"

using namespace mlir;

namespace pto_mlir::top {

namespace {

using Report = llvm::function_ref<void(const Twine &)>;

// The most specific type compatible with both: extents that differ become dynamic. Null if there is none.
Type joined(Type a, Type b) {
  auto left = cast<RankedTensorType>(a), right = cast<RankedTensorType>(b);
  if (left.getElementType() != right.getElementType() || left.getRank() != right.getRank())
    return {};
  SmallVector<int64_t> shape(left.getShape());
  for (auto [size, other] : llvm::zip(shape, right.getShape()))
    size = size == other ? size : ShapedType::kDynamic;
  return RankedTensorType::get(shape, left.getElementType());
}

bool isCompatible(Type a, Type b) {
  auto left = dyn_cast<RankedTensorType>(a), right = dyn_cast<RankedTensorType>(b);
  return left && right && left.getElementType() == right.getElementType() &&
         succeeded(verifyCompatibleShape(left, right));
}

Type stacked(int64_t count, Type row) {
  auto type = cast<RankedTensorType>(row);
  SmallVector<int64_t> shape{count};
  llvm::append_range(shape, type.getShape());
  return RankedTensorType::get(shape, type.getElementType());
}

bool isOne(Type type, unsigned width) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 1 &&
         tensor.getElementType().isSignlessInteger(width);
}

LogicalResult checkCarried(ValueRange yielded, TypeRange entering, Report report) {
  for (auto [i, value, type] : llvm::enumerate(yielded, entering))
    if (value.getType() != type) {
      report("it carries a " + debugString(type) + " into a trip and a " + debugString(value.getType()) +
             " out of it (value " + Twine(i) + ")");
      return failure();
    }
  return success();
}

using Types = FailureOr<SmallVector<Type>>;

Types inferIf(IfOp op, Report report) {
  if (!isOne(op.getCondition().getType(), 1))
    return report("the condition must be one boolean, it is a " + debugString(op.getCondition().getType())), failure();
  Operation *then = op.getThenRegion().front().getTerminator(), *other = op.getElseRegion().front().getTerminator();
  if (then->getNumOperands() != other->getNumOperands())
    return report("its branches give " + Twine(then->getNumOperands()) + " and " + Twine(other->getNumOperands()) +
                  " tensors"),
           failure();
  SmallVector<Type> types;
  for (auto [i, a, b] : llvm::enumerate(then->getOperandTypes(), other->getOperandTypes())) {
    types.push_back(joined(a, b));
    if (!types.back())
      return report("its branches give a " + debugString(a) + " and a " + debugString(b) + " as output " + Twine(i)),
             failure();
  }
  return types;
}

Types inferLoop(LoopOp op, Report report) {
  Block &body = op.getBody().front();
  Operation *yield = body.getTerminator();
  size_t carried = op.getCarried().size();
  if (!isOne(op.getTrips().getType(), 64) || !isOne(op.getCondition().getType(), 1))
    return report("expects one 64-bit integer as the number of trips and one boolean as the condition, got a " +
                  debugString(op.getTrips().getType()) + " and a " + debugString(op.getCondition().getType())),
           failure();
  if (body.getNumArguments() != carried + 2 || yield->getNumOperands() < carried + 1)
    return report("carries " + Twine(carried) + " tensors; its body takes " + Twine(body.getNumArguments()) +
                  " and gives " + Twine(yield->getNumOperands())),
           failure();
  if (!isOne(yield->getOperand(0).getType(), 1))
    return report("the next condition must be one boolean, it is a " + debugString(yield->getOperand(0).getType())),
           failure();
  TypeRange entering = op.getCarried().getTypes(), taken = body.getArgumentTypes();
  if (!isOne(taken[0], 64) || !isOne(taken[1], 1) || taken.drop_front(2) != entering)
    return report("its body must take one 64-bit integer, one boolean, and the types that it carries"), failure();
  if (failed(checkCarried(yield->getOperands().slice(1, carried), entering, report)))
    return failure();
  SmallVector<Type> types(entering);
  int64_t count = op.constantTrips().value_or(ShapedType::kDynamic);
  for (Type row : TypeRange(yield->getOperandTypes()).drop_front(carried + 1))
    types.push_back(stacked(count, row));
  return types;
}

Types inferScan(ScanOp op, Report report) {
  Block &body = op.getBody().front();
  Operation *yield = body.getTerminator();
  size_t states = op.getStates(), count = op.getInputs().size();
  if (states >= count || body.getNumArguments() != count || yield->getNumOperands() < states)
    return report("has " + Twine(states) + " states among " + Twine(count) + " tensors; its body takes " +
                  Twine(body.getNumArguments()) + " and gives " + Twine(yield->getNumOperands())),
           failure();
  if (op.getReversedInputs().size() != count - states ||
      op.getReversedOutputs().size() != yield->getNumOperands() - states)
    return report("expects a direction per tensor that is scanned and one per tensor that is made"), failure();
  TypeRange entering = op.getInputs().getTypes();
  if (failed(checkCarried(yield->getOperands().take_front(states), entering.take_front(states), report)))
    return failure();
  int64_t length = -1;
  for (Type type : entering.drop_front(states)) {
    auto tensor = cast<RankedTensorType>(type);
    if (tensor.getRank() == 0 || (length >= 0 && tensor.getDimSize(0) != length))
      return report("the tensors that it scans have no common length"), failure();
    length = tensor.getDimSize(0);
  }
  for (auto [i, taken, type] : llvm::enumerate(body.getArgumentTypes(), entering))
    if (taken != (i < states ? type : Type(rowType(type))))
      return report("its body must take the states and a row of each tensor that it scans"), failure();
  SmallVector<Type> types(entering.take_front(states));
  for (Type row : TypeRange(yield->getOperandTypes()).drop_front(states))
    types.push_back(stacked(length, row));
  return types;
}

LogicalResult verifyControl(Operation *op) {
  for (mlir::Region &region : op->getRegions())
    if (!region.front().mightHaveTerminator() || !isa<YieldOp>(region.front().getTerminator()))
      return op->emitOpError("expects regions that end with top.yield");
  Types types = inferControlTypes(op, [&](const Twine &reason) { op->emitOpError(reason); });
  if (failed(types))
    return failure();
  // Types inferred from constants may be more static than the declared result types.
  bool fits = types->size() == op->getNumResults() &&
              llvm::all_of(llvm::zip(*types, op->getResultTypes()),
                           [](auto pair) { return isCompatible(std::get<0>(pair), std::get<1>(pair)); });
  if (!fits)
    return op->emitOpError("has results that do not fit what its regions yield");
  return success();
}

} // namespace

bool isControlFlow(Operation *op) {
  return isa<IfOp, LoopOp, ScanOp, DimOp, AssumeOp, RequireOp, NonZeroOp, HostOp>(op);
}

RankedTensorType rowType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getRank() ? RankedTensorType::get(tensor.getShape().drop_front(), tensor.getElementType())
                          : RankedTensorType();
}

std::optional<int64_t> LoopOp::constantTrips() {
  auto isTrue = [](Value value) {
    std::optional<Weight> weight = getConstant(value);
    return weight && weight->type.getNumElements() == 1 && toInts(*weight).front() != 0;
  };
  Block &body = getBody().front();
  Value next = body.getTerminator()->getOperand(0);
  std::optional<Weight> trips = getConstant(getTrips());
  if (!trips || trips->type.getNumElements() != 1 || !isTrue(getCondition()) ||
      (next != body.getArgument(1) && !isTrue(next)))
    return std::nullopt;
  int64_t count = std::max<int64_t>(toInts(*trips).front(), 0);
  return count <= INT32_MAX ? std::optional(count) : std::nullopt;
}

FailureOr<SmallVector<Type>> inferControlTypes(Operation *op, Report report) {
  if (auto branch = dyn_cast<IfOp>(op))
    return inferIf(branch, report);
  if (auto loop = dyn_cast<LoopOp>(op))
    return inferLoop(loop, report);
  return inferScan(cast<ScanOp>(op), report);
}

LogicalResult DimOp::verify() {
  int64_t rank = cast<RankedTensorType>(getSource().getType()).getRank();
  if (getAxis() >= 0 && int64_t(getAxis()) < rank)
    return success();
  return emitOpError("axis ") << getAxis() << " is outside of rank " << rank;
}

LogicalResult AssumeOp::verify() {
  if (isCompatible(getSource().getType(), getOutput().getType()) &&
      cast<RankedTensorType>(getOutput().getType()).hasStaticShape())
    return success();
  return emitOpError("expects a static type that the tensor may have, got ") << getOutput().getType();
}

LogicalResult RequireOp::verify() {
  return isOne(getCondition().getType(), 1) ? success() : emitOpError("the condition must be one boolean");
}

LogicalResult HostOp::verify() {
  if (DictionaryAttr parameters = getParametersAttr())
    for (NamedAttribute entry : parameters)
      if (!isa<IntegerAttr, FloatAttr, StringAttr, DenseI64ArrayAttr>(entry.getValue()))
        return emitOpError("parameter '") << entry.getName().getValue() << "' is no number, text or list of integers";
  SmallVector<ElementType> types;
  for (Value input : getInputs()) {
    auto type = fileElementType(getElementTypeOrSelf(input.getType()));
    if (!type)
      return emitOpError("has an operand of ") << input.getType() << ", which the host does not hold";
    types.push_back(*type);
  }
  if (fileElementType(getElementTypeOrSelf(getOutput().getType())) && hostops::hasTensorOp(getKernel(), types))
    return success();
  return emitOpError("calls '") << getKernel() << "', which the host does not have for these types";
}

LogicalResult KernelOp::verify() {
  int64_t number = getNumber();
  if (number < 0 || number >= int64_t(getTypes().size()) || cast<TypeAttr>(getTypes()[number]).getValue() != getType())
    return emitOpError("expects its type as number ") << number << " of its types";
  for (NamedAttribute entry : getBodies()) {
    auto body = dyn_cast<DictionaryAttr>(entry.getValue());
    auto pointers = body ? body.getAs<DenseI64ArrayAttr>("pointers") : DenseI64ArrayAttr();
    auto offsets = body ? body.getAs<DenseI64ArrayAttr>("offsets") : DenseI64ArrayAttr();
    if (!pointers || !offsets || pointers.size() != offsets.size() || !body.getAs<StringAttr>("text") ||
        !body.getAs<DenseI64ArrayAttr>("scalars"))
      return emitOpError("expects text, pointers, offsets and scalars for ") << entry.getName();
    int64_t ports = getInputs().size() + getTypes().size();
    if (!llvm::all_of(pointers.asArrayRef(), [&](int64_t port) { return port >= 0 && port < ports; }))
      return emitOpError("has ") << ports << " operands and results; a pointer for " << entry.getName()
                                 << " is another one";
  }
  return success();
}

LogicalResult NonZeroOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType()), output = cast<RankedTensorType>(getOutput().getType());
  if (output.getRank() == 2 && output.getDimSize(0) == source.getRank() && output.getElementType().isInteger(64))
    return success();
  return emitOpError("gives as many rows of 64-bit integers as the tensor has dimensions, got ") << output;
}

LogicalResult IfOp::verifyRegions() { return verifyControl(*this); }
LogicalResult LoopOp::verifyRegions() { return verifyControl(*this); }
LogicalResult ScanOp::verifyRegions() { return verifyControl(*this); }

} // namespace pto_mlir::top
