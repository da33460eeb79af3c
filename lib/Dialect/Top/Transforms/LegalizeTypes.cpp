// top-legalize-types: hands ops to the host whose element types or values no engine computes.
#include "IntegerRanges.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Support/DebugStringHelper.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Control.h"
#include "pto_mlir/Dialect/Top/IR/FileTypes.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"
#include "pto_mlir/HostOps/TensorOps.h"

#define DEBUG_TYPE "top-legalize-types"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir::top {
#define GEN_PASS_DEF_TOPLEGALIZETYPES
#include "pto_mlir/Dialect/Top/Transforms/Passes.h.inc"

namespace {

/// Whether tensors of the type may be in the memory of a net, as they are or narrowed by top-storage-types.
bool isOfDevice(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return !element.isUnsignedInteger(64) && integer.getWidth() >= 8 ? true : element.isInteger(1);
  return element.isF32() || element.isF16() || element.isBF16() || isTopQuantised(element);
}

/// Why no engine computes the op whatever its values are; empty if one does, or if the op is no computation.
std::string whyNotOnDevice(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Type type : types)
    if (Type element = getElementTypeOrSelf(type); !isOfDevice(element))
      return "elements of type " + debugString(element);
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  if (!isa<IntegerType>(element))
    return "";
  // Quotients and comparisons are in 32 bits, to which 8-bit and unsigned integers are widened. Patterns of more bits
  // than a net has are usual.
  bool isLacking =
      isa<PowOp, MatMulOp, ReduceMeanOp, MaxPoolOp, AvgPoolOp, SignOp>(op) ||
      (isa<BitAndOp, BitOrOp, BitXorOp>(op) && (element.isSignlessInteger(64) || element.isUnsignedInteger(32))) ||
      (isa<DivOp, CompareOp>(op) && element.isSignlessInteger(16));
  return isLacking ? "integers of type " + debugString(element) : "";
}

bool isPackedInteger(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  return integer && integer.getWidth() > 1 && integer.getWidth() < 8;
}

bool isEngineFloat(Type element) { return element.isF32() || element.isF16() || element.isBF16(); }

/// The codes of `value` as elements of `type`, which has their size.
Value otherBits(OpBuilder &b, Location loc, Value value, Type type) {
  return b.create<HostOp>(loc, cast<RankedTensorType>(value.getType()).clone(type), "bitcast", value, DictionaryAttr(),
                          "bits in another type");
}

/// A cast between floats and floats of 8 and 4 bits: the engines compute the codes or the values, the host stores
/// codes.
void splitCodedCast(CastOp cast) {
  OpBuilder b(cast);
  Location unnamed = b.getUnknownLoc();
  Type from = getElementTypeOrSelf(cast.getInput().getType()), to = cast.getTo();
  auto codeType = [&](Type coded) { return b.getIntegerType(isa<Float4E2M1Type>(coded) ? 4 : 8, /*isSigned=*/false); };
  Value result;
  if (isCodedFloat(to)) {
    Value codes = b.create<EncodeFloatOp>(unnamed, cast.getInput(), to, cast.getOverflows(), cast.getRoundAttr());
    codes = b.create<CastOp>(unnamed, codes, codeType(to));
    result = otherBits(b, cast.getLoc(), codes, to);
  } else {
    Value codes = otherBits(b, unnamed, cast.getInput(), codeType(from));
    codes = b.create<CastOp>(unnamed, codes, b.getI32Type());
    auto decoded = b.create<DecodeFloatOp>(to.isF32() ? cast.getLoc() : Location(unnamed), codes, from);
    decoded->setAttr(kWideAttr, b.getUnitAttr()); // its kernel makes f32
    result = decoded;
    if (!to.isF32())
      result = b.create<CastOp>(cast.getLoc(), result, to);
  }
  cast.replaceAllUsesWith(result);
  cast.erase();
}

/// Casts between floats and packed integers go by way of i32, so that the host packs and unpacks and the engines round
/// and widen.
void splitNarrowCasts(func::FuncOp func) {
  func.walk([&](CastOp cast) {
    Type from = getElementTypeOrSelf(cast.getInput().getType()), to = cast.getTo();
    if ((isEngineFloat(from) && isCodedFloat(to)) || (isCodedFloat(from) && isEngineFloat(to)))
      return splitCodedCast(cast);
    if (!(isEngineFloat(from) && isPackedInteger(to)) && !(isPackedInteger(from) && isEngineFloat(to)))
      return;
    OpBuilder b(cast);
    cast.getInputMutable().assign(b.create<CastOp>(b.getUnknownLoc(), cast.getInput(), b.getI32Type()).getOutput());
  });
}

/// The op's attributes as parameters of a call: numbers, texts and lists. Types are those of the operands.
DictionaryAttr parametersOf(Operation *op) {
  NamedAttrList parameters;
  Builder b(op->getContext());
  for (NamedAttribute entry : op->getAttrs()) {
    if (auto flag = dyn_cast<BoolAttr>(entry.getValue()))
      parameters.set(entry.getName(), b.getI64IntegerAttr(flag.getValue()));
    else if (isa<UnitAttr>(entry.getValue()))
      parameters.set(entry.getName(), b.getI64IntegerAttr(1));
    else if (isa<IntegerAttr, FloatAttr, StringAttr, DenseI64ArrayAttr>(entry.getValue()))
      parameters.set(entry.getName(), entry.getValue());
  }
  return parameters.empty() ? DictionaryAttr() : parameters.getDictionary(op->getContext());
}

struct TopLegalizeTypes : impl::TopLegalizeTypesBase<TopLegalizeTypes> {
  TopLegalizeTypes() = default;
  explicit TopLegalizeTypes(KernelRefusal refusal) : refusal(std::move(refusal)) {}

  void runOnOperation() override {
    bool isWhole = true;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal())
        isWhole &= succeeded(legalize(func));
    if (!isWhole)
      signalPassFailure();
  }

  LogicalResult legalize(func::FuncOp func) {
    splitNarrowCasts(func);
    llvm::MapVector<Operation *, std::string> ops = integersForHost(func);
    func.walk([&](Operation *op) {
      if (!isa<TopDialect>(op->getDialect()) || isControlFlow(op) || op->getNumOperands() == 0 ||
          op->getNumResults() != 1)
        return;
      std::string reason = whyNotOnDevice(op);
      if (reason.empty() && refusal)
        reason = refusal(op);
      if (!reason.empty())
        ops.insert({op, reason});
    });
    LogicalResult whole = success();
    for (auto &[op, reason] : ops)
      if (failed(moveToHost(op, reason)))
        whole = failure();
    copyOutputs(func);
    holdStrings(func);
    return whole;
  }

  // No net has strings: a model that takes some and reads none still needs a host program.
  static void holdStrings(func::FuncOp func) {
    Operation *terminator = func.getBody().front().getTerminator();
    bool isProgram = func.walk([](Operation *op) {
                           return isControlFlow(op) ? WalkResult::interrupt() : WalkResult(WalkResult::advance());
                         })
                         .wasInterrupted();
    auto isString = [](Type type) { return isa<StringType>(getElementTypeOrSelf(type)); };
    if (isProgram || terminator->getNumOperands() == 0 || llvm::none_of(func.getArgumentTypes(), isString))
      return;
    OpOperand &result = terminator->getOpOperand(0);
    auto type = cast<RankedTensorType>(result.get().getType());
    OpBuilder b(terminator);
    auto shape = b.getNamedAttr("shape", b.getDenseI64ArrayAttr(type.getShape()));
    result.set(b.create<HostOp>(result.get().getLoc(), type, "reshape", result.get(), b.getDictionaryAttr(shape),
                                "the model takes strings"));
  }

  // A constant of integers that the 32 bits of a net do not hold.
  static bool isBeyondDevice(Value value) {
    Type element = getElementTypeOrSelf(value.getType());
    if (!element.isUnsignedInteger(32) && !element.isSignlessInteger(64))
      return false;
    std::optional<Weight> weight = getConstant(value);
    return weight && llvm::any_of(toInts(*weight), [](int64_t number) { return !llvm::isInt<32>(number); });
  }

  // No net can copy an input or a constant of such a type to an output.
  void copyOutputs(func::FuncOp func) {
    OpBuilder b(func.getBody().front().getTerminator());
    for (OpOperand &result : func.getBody().front().getTerminator()->getOpOperands()) {
      Value value = result.get();
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type || !type.hasStaticShape() || (isOfDevice(type.getElementType()) && !isBeyondDevice(value)) ||
          !fileElementType(type.getElementType()) ||
          !(isa<BlockArgument>(value) || isa<WeightOp, arith::ConstantOp>(value.getDefiningOp())))
        continue;
      auto shape = b.getNamedAttr("shape", b.getDenseI64ArrayAttr(type.getShape()));
      result.set(b.create<HostOp>(value.getLoc(), type, "reshape", value, b.getDictionaryAttr(shape),
                                  "elements of type " + debugString(type.getElementType())));
    }
  }

  LogicalResult moveToHost(Operation *op, StringRef reason) {
    StringRef mnemonic = op->getName().stripDialect();
    SmallVector<ElementType> types;
    for (Value operand : op->getOperands())
      if (auto type = fileElementType(getElementTypeOrSelf(operand.getType())))
        types.push_back(*type);
    if (types.size() != op->getNumOperands() || !fileElementType(getElementTypeOrSelf(op->getResult(0).getType())) ||
        !hostops::hasTensorOp(mnemonic, types))
      return op->emitOpError("computes ") << reason
                                          << ", which neither the engines nor the host do; cast its operands "
                                             "to float32 or int32";
    PTO_DEBUG(mnemonic << " '" << getTensorName(op->getLoc()) << "' goes to the host: " << reason);
    IRRewriter rewriter(op);
    auto host = rewriter.create<HostOp>(op->getLoc(), op->getResult(0).getType(), mnemonic, op->getOperands(),
                                        parametersOf(op), reason);
    rewriter.replaceOp(op, host.getOutput());
    return success();
  }

  KernelRefusal refusal;
};

} // namespace

std::unique_ptr<Pass> createTopLegalizeTypes(KernelRefusal refusal) {
  return std::make_unique<TopLegalizeTypes>(std::move(refusal));
}

} // namespace pto_mlir::top
