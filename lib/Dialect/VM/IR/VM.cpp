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
  uint64_t expected = getInputs() + getOutputs() + 1;
  if (entry.getNumArguments() != expected)
    return emitOpError() << "expects " << expected << " block arguments (" << getInputs() << " inputs, " << getOutputs()
                         << " outputs and the weights), got " << entry.getNumArguments();
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
  return success();
}

} // namespace pto_mlir::vm
