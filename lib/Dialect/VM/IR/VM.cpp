// Registration and verifiers of the vm dialect.
#include "pto_mlir/Dialect/VM/IR/VM.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "pto_mlir/Dialect/VM/IR/VMDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "pto_mlir/Dialect/VM/IR/VMTypes.cpp.inc"

#define GET_OP_CLASSES
#include "pto_mlir/Dialect/VM/IR/VMOps.cpp.inc"

namespace pto_mlir::vm {

void VMDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "pto_mlir/Dialect/VM/IR/VMTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "pto_mlir/Dialect/VM/IR/VMOps.cpp.inc"
      >();
}

LogicalResult FuncOp::verify() {
  Block &entry = getBody().front();
  bool hasState = (*this)->hasAttr(kStateAttr);
  uint64_t expected = getInputs() + getOutputs() + 1 + hasState;
  if (entry.getNumArguments() != expected)
    return emitOpError() << "expects " << expected << " block arguments (" << getInputs() << " inputs, " << getOutputs()
                         << " outputs and the weights" << (hasState ? ", and the state" : "") << "), got "
                         << entry.getNumArguments();
  for (BlockArgument argument : entry.getArguments())
    if (!isa<BufferType>(argument.getType()))
      return emitOpError() << "expects block arguments of type !vm.buffer, got " << argument.getType();
  return success();
}

Operation *VMDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  OperationState state(loc, "vm.rodata");
  if (isa<IndexType>(type) || type.isSignlessInteger() || type.isF32() || type.isF64()) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    state.name = OperationName("vm.const." + text, getContext());
  } else if (!isa<ElementsAttr>(value)) {
    return nullptr;
  }
  if (!state.name.isRegistered())
    return nullptr;
  state.addAttribute("value", value);
  state.addTypes(type);
  return builder.create(state);
}

LogicalResult ReturnOp::verify() {
  Operation *parent = (*this)->getParentOp();
  auto function = dyn_cast<FunctionOpInterface>(parent);
  TypeRange expected = function ? TypeRange(function.getResultTypes()) : TypeRange();
  if (isa<FuncOp>(parent) || function)
    if (TypeRange(getOperands().getTypes()) != expected)
      return emitOpError() << "expects the " << expected.size() << " results of its function";
  return success();
}

LogicalResult LaunchOp::verify() {
  if (!getCallee().starts_with("device.") && !getCallee().starts_with("host."))
    return emitOpError() << "expects a callee @device.<kernel> or @host.<op>, got @" << getCallee();
  size_t count = getBuffers().size();
  if (getOffsets().size() != count || getBytes().size() != count)
    return emitOpError() << "expects one offset and one byte count for each of its " << count << " buffers, got "
                         << getOffsets().size() << " and " << getBytes().size();
  for (int64_t value : getOffsets())
    if (value < 0)
      return emitOpError() << "expects offsets that are not negative, got " << value;
  for (int64_t value : getBytes())
    if (value < 0)
      return emitOpError() << "expects byte counts that are not negative, got " << value;
  if (!isDevice() && getReason().value_or("").empty())
    return emitOpError() << "expects a reason for running on the host";
  if (!getScalars())
    return success();
  if (!isDevice())
    return emitOpError() << "passes scalars to a host op, which takes none";
  auto symbols = (*this)->getParentOfType<FuncOp>()->getAttrOfType<ArrayAttr>("vm.symbols");
  size_t known = symbols ? symbols.size() : 0;
  if (getScalars()->getNumDims() || getScalars()->getNumSymbols() != known)
    return emitOpError() << "expects scalars as functions of the " << known << " symbols of its function, got "
                         << getScalarsAttr();
  for (AffineExpr scalar : getScalars()->getResults()) {
    bool isPolynomial = true;
    scalar.walk([&](AffineExpr part) {
      isPolynomial &= isa<AffineConstantExpr, AffineSymbolExpr>(part) || part.getKind() == AffineExprKind::Add ||
                      part.getKind() == AffineExprKind::Mul;
    });
    if (!isPolynomial)
      return emitOpError() << "expects scalars that are sums of products, got " << getScalarsAttr();
  }
  return success();
}

} // namespace pto_mlir::vm
