#include "Calls.h"

using namespace mlir;

namespace pto_mlir {

namespace {

/// A name can hold the attribute as it is, or as a plain list.
Attribute nameable(Attribute attr) {
  MLIRContext *context = attr.getContext();
  if (auto boolean = dyn_cast<BoolAttr>(attr))
    return IntegerAttr::get(IntegerType::get(context, 64), boolean.getValue());
  if (isa<IntegerAttr, FloatAttr, StringAttr, DenseI64ArrayAttr>(attr))
    return attr;
  auto wide = [&](auto values) {
    return DenseI64ArrayAttr::get(context, SmallVector<int64_t>(values.begin(), values.end()));
  };
  if (auto array = dyn_cast<DenseI32ArrayAttr>(attr))
    return wide(array.asArrayRef());
  if (auto array = dyn_cast<DenseI8ArrayAttr>(attr))
    return wide(array.asArrayRef());
  if (auto array = dyn_cast<DenseBoolArrayAttr>(attr))
    return wide(array.asArrayRef());
  if (auto array = dyn_cast<ArrayAttr>(attr)) {
    SmallVector<int64_t> values;
    for (Attribute entry : array) {
      auto integer = dyn_cast<IntegerAttr>(entry);
      if (!integer)
        return {};
      values.push_back(integer.getInt());
    }
    return wide(values);
  }
  return {};
}

} // namespace

FailureOr<vm::CallOp> replaceWithCall(RewriterBase &rewriter, Operation *op, StringRef place,
                                      ArrayRef<StringRef> ignoredAttributes) {
  if (op->getNumRegions() || op->getNumSuccessors())
    return rewriter.notifyMatchFailure(op, "has regions");
  for (Type type :
       llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()), SmallVector<Type>(op->getResultTypes())))
    if (!isVMNumber(type) && !isa<RankedTensorType>(type))
      return rewriter.notifyMatchFailure(op, "has operands or results that are neither numbers nor ranked tensors");
  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute entry : op->getAttrs()) {
    if (llvm::is_contained(ignoredAttributes, entry.getName().getValue()))
      continue;
    Attribute value = nameable(entry.getValue());
    if (!value)
      return rewriter.notifyMatchFailure(op, "has an attribute that no kernel's name can hold");
    attributes.push_back(rewriter.getNamedAttr(entry.getName(), value));
  }
  std::string callee = (place + "." + op->getName().stripDialect()).str();
  auto call = rewriter.create<vm::CallOp>(op->getLoc(), op->getResultTypes(), callee, op->getOperands(), IntegerAttr());
  for (NamedAttribute entry : attributes)
    call->setDiscardableAttr(entry.getName(), entry.getValue());
  rewriter.replaceOp(op, call);
  return call;
}

bool isVMNumber(Type type) {
  return isa<IndexType>(type) || type.isSignlessInteger(1) || type.isSignlessInteger(8) || type.isSignlessInteger(16) ||
         type.isSignlessInteger(32) || type.isSignlessInteger(64) || type.isF32() || type.isF64();
}

Value makeConstant(OpBuilder &builder, Location loc, TypedAttr value) {
  Operation *op = builder.getContext()->getLoadedDialect<vm::VMDialect>()->materializeConstant(builder, value,
                                                                                               value.getType(), loc);
  return op ? op->getResult(0) : Value();
}

void forEachOp(ModuleOp module, StringRef dialect, llvm::function_ref<void(Operation *, RewriterBase &)> convert) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (op->getName().getDialectNamespace() == dialect)
      ops.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    convert(op, rewriter);
  }
}

} // namespace pto_mlir
