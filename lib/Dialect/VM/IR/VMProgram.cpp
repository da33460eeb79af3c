// Verifiers and folds of the ops of SSA programs.
#include "pto_mlir/Dialect/VM/IR/VMProgram.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "pto_mlir/Dialect/VM/IR/VMProgramOps.cpp.inc"

namespace pto_mlir::vm {

void VMDialect::registerProgramOps() {
  // Tools and passes both register these ops; register them once.
  if (RegisteredOperationName::lookup(RodataOp::getOperationName(), getContext()))
    return;
  addOperations<
#define GET_OP_LIST
#include "pto_mlir/Dialect/VM/IR/VMProgramOps.cpp.inc"
      >();
}

void registerProgramOps(DialectRegistry &registry) {
  registry.insert<VMDialect>();
  registry.addExtension(+[](MLIRContext *, VMDialect *dialect) { dialect->registerProgramOps(); });
}

OpFoldResult ConstI1Op::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult ConstI8Op::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult ConstI16Op::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult ConstI32Op::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult ConstI64Op::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult ConstIndexOp::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult ConstF32Op::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult ConstF64Op::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult RodataOp::fold(FoldAdaptor) { return getValueAttr(); }

// Calls.

LogicalResult CallOp::verify() {
  StringRef callee = getCallee();
  if (isKernel()) {
    if (!callee.starts_with("device.") && !callee.starts_with("host.") && !callee.starts_with("python."))
      return emitOpError() << "expects a kernel @device.<op>, @host.<op> or @python.<op>, or a function, got @"
                           << callee;
    return success();
  }
  if (getQueue())
    return emitOpError() << "launches kernels; @" << callee << " is a function";
  // Without functions around the calls the module itself may be the program.
  auto function = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(*this, getCalleeAttr());
  if (!function)
    return emitOpError() << "no function is named @" << callee;
  if (!llvm::equal(function.getArgumentTypes(), getOperands().getTypes()) ||
      !llvm::equal(function.getResultTypes(), getResults().getTypes()))
    return emitOpError() << "does not fit the types of @" << callee;
  return success();
}

void CallOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (getCallee().starts_with("device."))
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

// Numbers.

static constexpr llvm::StringLiteral kIntegerKinds[] = {
    "iadd", "isub",  "imul",  "idiv", "irem", "idivu", "iremu", "ifloordiv", "iceildiv", "imin",
    "imax", "iminu", "imaxu", "iand", "ior",  "ixor",  "ishl",  "ishr",      "ishru"};
static constexpr llvm::StringLiteral kFloatKinds[] = {"fadd", "fsub", "fmul", "fdiv", "frem", "fmin", "fmax"};

LogicalResult BinaryOp::verify() {
  bool isFloat = isa<FloatType>(getType());
  ArrayRef<llvm::StringLiteral> kinds =
      isFloat ? ArrayRef<llvm::StringLiteral>(kFloatKinds) : ArrayRef<llvm::StringLiteral>(kIntegerKinds);
  if (!llvm::is_contained(kinds, getKind()))
    return emitOpError() << "\"" << getKind() << "\" is no computation on " << getType();
  if (getType().isInteger(1) && !llvm::is_contained({"iand", "ior", "ixor"}, getKind()))
    return emitOpError() << "i1 has iand, ior and ixor only";
  return success();
}

OpFoldResult BinaryOp::fold(FoldAdaptor adaptor) {
  auto lhs = dyn_cast_or_null<IntegerAttr>(adaptor.getLhs()), rhs = dyn_cast_or_null<IntegerAttr>(adaptor.getRhs());
  StringRef kind = getKind();
  if (lhs && rhs) {
    APInt a = lhs.getValue(), b = rhs.getValue();
    std::optional<APInt> value;
    if (kind == "iadd")
      value = a + b;
    else if (kind == "isub")
      value = a - b;
    else if (kind == "imul")
      value = a * b;
    else if (kind == "iand")
      value = a & b;
    else if (kind == "ior")
      value = a | b;
    else if (kind == "ixor")
      value = a ^ b;
    else if (kind == "imin")
      value = llvm::APIntOps::smin(a, b);
    else if (kind == "imax")
      value = llvm::APIntOps::smax(a, b);
    if (value)
      return IntegerAttr::get(getType(), *value);
  }
  // A division by a constant zero is not folded: it faults at run time.
  bool rightIsZero = rhs && rhs.getValue().isZero(), rightIsOne = rhs && rhs.getValue().isOne();
  if (rightIsZero && llvm::is_contained({"iadd", "isub", "ior", "ixor", "ishl", "ishr", "ishru"}, kind))
    return getLhs();
  if (rightIsOne && llvm::is_contained({"imul", "idiv", "idivu", "ifloordiv", "iceildiv"}, kind))
    return getLhs();
  return {};
}

LogicalResult CompareOp::verify() {
  bool isFloat = isa<FloatType>(getLhs().getType());
  if (getPredicate() >= (isFloat ? 16 : 10))
    return emitOpError() << "predicate " << getPredicate() << " does not exist for " << getLhs().getType();
  return success();
}

OpFoldResult CompareOp::fold(FoldAdaptor adaptor) {
  auto lhs = dyn_cast_or_null<IntegerAttr>(adaptor.getLhs()), rhs = dyn_cast_or_null<IntegerAttr>(adaptor.getRhs());
  if (!lhs || !rhs)
    return {};
  APInt a = lhs.getValue(), b = rhs.getValue();
  bool answers[] = {a == b, a != b, a.slt(b), a.sle(b), a.sgt(b), a.sge(b), a.ult(b), a.ule(b), a.ugt(b), a.uge(b)};
  return BoolAttr::get(getContext(), answers[getPredicate()]);
}

OpFoldResult ConvertOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  auto value = dyn_cast_or_null<IntegerAttr>(adaptor.getOperand());
  if (!value || isa<FloatType>(getType()))
    return {};
  unsigned width = isa<IndexType>(getType()) ? 64 : getType().getIntOrFloatBitWidth();
  APInt bits = value.getValue();
  return IntegerAttr::get(getType(), getIsUnsigned() ? bits.zextOrTrunc(width) : bits.sextOrTrunc(width));
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return getLhs();
  if (auto condition = dyn_cast_or_null<IntegerAttr>(adaptor.getCondition()))
    return condition.getValue().isZero() ? getRhs() : getLhs();
  return {};
}

// Tensors.

/// Verifies that there is one extent per dynamic dimension of the type.
static LogicalResult verifyExtents(Operation *op, ValueRange extents, RankedTensorType type) {
  if (int64_t(extents.size()) != type.getNumDynamicDims())
    return op->emitOpError() << "expects " << type.getNumDynamicDims() << " extents for " << type << ", got "
                             << extents.size();
  return success();
}

static LogicalResult verifyElement(Operation *op, Type element, ValueRange indices, RankedTensorType type) {
  if (int64_t(indices.size()) != type.getRank())
    return op->emitOpError() << "expects " << type.getRank() << " indices, got " << indices.size();
  if (element != type.getElementType())
    return op->emitOpError() << "expects an element of type " << type.getElementType() << ", got " << element;
  return success();
}

LogicalResult NewOp::verify() { return verifyExtents(*this, getExtents(), cast<RankedTensorType>(getType())); }

LogicalResult ReshapeOp::verify() {
  if (cast<RankedTensorType>(getSource().getType()).getElementType() !=
      cast<RankedTensorType>(getType()).getElementType())
    return emitOpError() << "expects the same element type on both sides";
  return verifyExtents(*this, getExtents(), cast<RankedTensorType>(getType()));
}

LogicalResult LoadOp::verify() {
  return verifyElement(*this, getType(), getIndices(), cast<RankedTensorType>(getSource().getType()));
}

LogicalResult StoreOp::verify() {
  return verifyElement(*this, getValue().getType(), getIndices(), cast<RankedTensorType>(getTarget().getType()));
}

LogicalResult DimOp::verify() {
  if (int64_t(getDimension()) >= cast<RankedTensorType>(getSource().getType()).getRank())
    return emitOpError() << "dimension " << getDimension() << " of " << getSource().getType() << " does not exist";
  return success();
}

OpFoldResult DimOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getSource().getType());
  if (type.isDynamicDim(getDimension()))
    return {};
  return IntegerAttr::get(getType(), type.getDimSize(getDimension()));
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getSource().getType() == getType() ? OpFoldResult(getSource()) : OpFoldResult();
}

// Tasks.

LogicalResult SubmitOp::verify() {
  if (!getCallee().starts_with("device."))
    return emitOpError() << "expects a kernel @device.<name>, got @" << getCallee();
  SmallVector<StringRef> words;
  getDirections().split(words, ',', -1, /*KeepEmpty=*/false);
  for (StringRef word : words)
    if (!llvm::is_contained({"in", "out", "inout", "none"}, word))
      return emitOpError() << "'" << word << "' is no direction: in, out, inout, none";
  auto tensors = llvm::count_if(getArguments(), [](Value value) { return isa<RankedTensorType>(value.getType()); });
  if (tensors != int64_t(words.size()))
    return emitOpError() << "expects a direction for each of " << tensors << " tensors, got " << words.size();
  if (getRanked() && (getArguments().empty() || !getArguments().back().getType().isInteger(64)))
    return emitOpError() << "expects the number of the device, an i64, as its last argument";
  return success();
}

LogicalResult ReserveOp::verify() { return verifyExtents(*this, getExtents(), cast<RankedTensorType>(getType())); }

LogicalResult ViewOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType()), type = cast<RankedTensorType>(getType());
  if (source.getElementType() != type.getElementType())
    return emitOpError() << "expects the same element type on both sides";
  return verifyExtents(*this, getExtents(), type);
}

// Control.

SuccessorOperands BranchOp::getSuccessorOperands(unsigned) { return SuccessorOperands(getOperandsMutable()); }

SuccessorOperands CondBranchOp::getSuccessorOperands(unsigned index) {
  return SuccessorOperands(index == 0 ? getTrueOperandsMutable() : getFalseOperandsMutable());
}

void CondBranchOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add(+[](CondBranchOp branch, PatternRewriter &rewriter) -> LogicalResult {
    IntegerAttr condition;
    if (!matchPattern(branch.getCondition(), m_Constant(&condition)))
      return failure();
    bool taken = !condition.getValue().isZero();
    rewriter.replaceOpWithNewOp<BranchOp>(branch, taken ? branch.getTrueOperands() : branch.getFalseOperands(),
                                          taken ? branch.getTrueTarget() : branch.getFalseTarget());
    return success();
  });
}

} // namespace pto_mlir::vm
