// Computes counters and conditions as scalars of the program.
#include "Splitter.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pto_mlir::control_to_vm {

// Constants up to this many elements are stored in the program.
static constexpr int64_t kMaxRodataElements = 64;

static bool isScalarInteger(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 1 &&
         tensor.getElementType().isSignlessInteger();
}

bool Splitter::isKnown(Value value) {
  return held.contains(value) || isa_and_nonnull<top::WeightOp, arith::ConstantOp>(value.getDefiningOp());
}

Value Splitter::constant(Type type, int64_t value) {
  std::string name;
  llvm::raw_string_ostream(name) << "vm.const." << type;
  OperationState state(loc, name, ValueRange(), type);
  if (type.isInteger(1))
    state.addAttribute("value", b.getBoolAttr(value != 0));
  else
    state.addAttribute("value", b.getIntegerAttr(type, value));
  return b.create(state)->getResult(0);
}

SmallVector<Value> Splitter::zeros(Type type) {
  SmallVector<Value> indices;
  for (int64_t i = 0; i < cast<RankedTensorType>(type).getRank(); ++i)
    indices.push_back(constant(b.getI64Type(), 0));
  return indices;
}

Value Splitter::number(Value value) {
  Held &entry = held[value];
  if (entry.number)
    return entry.number;
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  if (!entry.tensor && isState(value)) {
    held.erase(value);
    return b.create<vm::LoadOp>(loc, element, copyOfState(value), zeros(value.getType()));
  }
  if (!entry.tensor) {
    held.erase(value);
    return constant(element, top::toInts(*top::getConstant(value)).front());
  }
  return b.create<vm::LoadOp>(loc, element, entry.tensor, zeros(value.getType()));
}

Value Splitter::tensor(Value value) {
  if (isState(value))
    return copyOfState(value);
  auto found = held.find(value);
  if (found == held.end())
    return constantTensor(value);
  Held &entry = found->second;
  if (entry.tensor)
    return entry.tensor;
  Value made = b.create<vm::NewOp>(loc, value.getType(), ValueRange());
  b.create<vm::StoreOp>(loc, entry.number, made, zeros(value.getType()));
  // In another block it might not dominate later uses.
  if (entry.number.getParentBlock() == b.getInsertionBlock())
    entry.tensor = made;
  return made;
}

Value Splitter::constantTensor(Value value) {
  std::optional<top::Weight> weight = top::getConstant(value);
  auto type = cast<RankedTensorType>(value.getType());
  if (llvm::all_of(weight->bytes, [](char byte) { return byte == 0; }))
    return b.create<vm::NewOp>(loc, type, ValueRange());
  // A constant that only the host reads may be of a type that no net has.
  bool isForHost = llvm::all_of(value.getUsers(), [](Operation *user) { return isa<top::HostOp>(user); });
  if (type.getNumElements() > kMaxRodataElements && !isForHost) {
    Net net;
    net.results.push_back(value);
    return callNet(net).front();
  }
  if (top::isNarrowFloat(type.getElementType())) { // no attribute has such elements: by way of f32, exactly
    auto wide = type.clone(b.getF32Type());
    std::vector<char> bytes = top::fromDoubles(b.getF32Type(), top::toDoubles(*weight));
    Value data = b.create<vm::RodataOp>(loc, DenseElementsAttr::getFromRawBuffer(wide, bytes));
    return b.create<vm::CallOp>(loc, type, "host.cast", data, IntegerAttr()).getResult(0);
  }
  DenseElementsAttr data;
  if (type.getElementType().isInteger(1))
    data = DenseElementsAttr::get(
        type, SmallVector<bool>(llvm::map_range(weight->bytes, [](char byte) { return byte != 0; })));
  else
    data = DenseElementsAttr::getFromRawBuffer(type, weight->bytes);
  return b.create<vm::RodataOp>(loc, data);
}

bool Splitter::emitScalar(Operation *op) {
  auto isScalar = [&](Value value) { return isScalarInteger(value.getType()); };
  // An element of a tensor available in the program.
  if (auto slice = dyn_cast<top::SliceOp>(op);
      slice && isScalar(slice.getOutput()) && held.contains(slice.getInput())) {
    SmallVector<Value> indices;
    for (int64_t start : slice.getStarts())
      indices.push_back(constant(b.getI64Type(), start));
    Type element = cast<RankedTensorType>(slice.getType()).getElementType();
    held[slice.getOutput()] = {Value(), b.create<vm::LoadOp>(loc, element, tensor(slice.getInput()), indices)};
    return true;
  }
  if (op->getNumResults() != 1 || !isScalar(op->getResult(0)) || !llvm::all_of(op->getOperands(), isScalar) ||
      !llvm::all_of(op->getOperands(), [&](Value value) { return isKnown(value); }))
    return false;
  Type type = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  auto operand = [&](unsigned i) { return number(op->getOperand(i)); };
  auto binary = [&](StringRef kind) {
    return b.create<vm::BinaryOp>(loc, type, kind, operand(0), operand(1)).getResult();
  };
  Value result =
      llvm::TypeSwitch<Operation *, Value>(op)
          .Case([&](top::AddOp) { return binary("iadd"); })
          .Case([&](top::SubOp) { return binary("isub"); })
          .Case([&](top::MulOp) { return binary("imul"); })
          .Case([&](top::DivOp) { return binary("idiv"); })
          .Case([&](top::MinOp) { return binary("imin"); })
          .Case([&](top::MaxOp) { return binary("imax"); })
          .Case([&](top::AndOp) { return binary("iand"); })
          .Case([&](top::OrOp) { return binary("ior"); })
          .Case([&](top::XorOp) { return binary("ixor"); })
          .Case([&](top::ReshapeOp) { return operand(0); })
          .Case([&](top::NotOp) { return b.create<vm::BinaryOp>(loc, type, "ixor", operand(0), constant(type, 1)); })
          .Case([&](top::NegOp) { return b.create<vm::BinaryOp>(loc, type, "isub", constant(type, 0), operand(0)); })
          .Case([&](top::WhereOp) { return b.create<vm::SelectOp>(loc, type, operand(0), operand(1), operand(2)); })
          .Case([&](top::CompareOp compare) {
            int64_t predicate = llvm::StringSwitch<int64_t>(compare.getMode())
                                    .Case("eq", 0)
                                    .Case("lt", 2)
                                    .Case("le", 3)
                                    .Case("gt", 4)
                                    .Default(5);
            return b.create<vm::CompareOp>(loc, b.getI1Type(), predicate, operand(0), operand(1));
          })
          .Case([&](top::CastOp cast) -> Value {
            Value from = operand(0);
            if (from.getType() == type)
              return from;
            if (type.isInteger(1))
              return b.create<vm::CompareOp>(loc, type, /*ne=*/1, from, constant(from.getType(), 0));
            return b.create<vm::ConvertOp>(loc, type, from, /*isUnsigned=*/from.getType().isInteger(1));
          })
          .Default(Value());
  if (result)
    held[op->getResult(0)] = {Value(), result};
  return result != nullptr;
}

} // namespace pto_mlir::control_to_vm
