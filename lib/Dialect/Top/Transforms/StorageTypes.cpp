//===- StorageTypes.cpp - Storage types of tensors ----------------------------===//

#include "IntegerRanges.h"
#include "NarrowIntegers.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/State.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"

#include <cmath>
#include <cstring>

#define DEBUG_TYPE "top-storage-types"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir::top {
#define GEN_PASS_DEF_TOPSTORAGETYPES
#include "pto_mlir/Dialect/Top/Transforms/Passes.h.inc"

namespace {

bool isConstant(Value value) { return isa_and_nonnull<WeightOp, arith::ConstantOp>(value.getDefiningOp()); }

// Constants that an elementwise op combines with a tensor: they cost little as f32, rounding them would bias whole
// channels, and a table of positions is the same for a batch of one and of many.
bool isCombinedConstant(OpOperand &use) {
  Operation *op = use.getOwner();
  if (!isa<AddOp, SubOp, MulOp, DivOp, PowOp>(op))
    return false;
  return isConstant(use.get()) && !isConstant(op->getOperand(1 - use.getOperandNumber()));
}

// The filter of a depthwise convolution: few weights for each channel, of which the vector cores read every one as f32
// anyway. Rounded they would bias whole channels, which nothing averages out.
bool isDepthwiseFilter(OpOperand &use) {
  auto conv = dyn_cast<ConvOp>(use.getOwner());
  if (!conv || use.getOperandNumber() != 1)
    return false;
  ArrayRef<int64_t> input = cast<RankedTensorType>(conv.getInput().getType()).getShape();
  ArrayRef<int64_t> output = cast<RankedTensorType>(conv.getType()).getShape();
  int64_t channels = channelDim(conv.getLayout(), input.size());
  return isConstant(use.get()) && isDepthwise(conv.getGroup(), input[channels], output[channels]);
}

// Operands that stay f32 because they are combined with an f32 accumulator or are statistics.
bool staysWide(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isDepthwiseFilter(use))
    return true;
  if (isa<BatchNormOp, LayerNormOp>(op))
    return use.getOperandNumber() > 0;
  if (auto attention = dyn_cast<AttentionOp>(op))
    return attention.getSinks() && use.get() == attention.getSinks();
  if (auto recurrent = dyn_cast<RecurrentOp>(op))
    return use.get() == recurrent.getBias() || use.get() == recurrent.getPeepholes();
  if (auto conv = dyn_cast<ConvOp>(op))
    return conv.getBias() && use.getOperandNumber() == 2;
  if (auto conv = dyn_cast<ConvTransposeOp>(op))
    return conv.getBias() && use.getOperandNumber() == 2;
  if (auto matmul = dyn_cast<MatMulOp>(op))
    return matmul.getBias() && use.getOperandNumber() == 2;
  return false;
}

// The binary ops take f32 beside a narrower operand.
bool isBinary(Operation *op) { return isa<AddOp, SubOp, MulOp, DivOp, MaxOp, MinOp>(op); }

bool isElementwise(Operation *op) {
  return isBinary(op) || isa<SqrtOp, ReciprocalOp, NegOp, AbsOp, ExpOp, LogOp, ClipOp>(op);
}

class Narrowing {
public:
  /// `positions`: casts of integers that the storage type does not hold exactly. `typesOnly`: large weights get no
  /// values.
  Narrowing(func::FuncOp func, FloatType storage, ArrayRef<Operation *> positions, bool typesOnly)
      : func(func), storage(storage), typesOnly(typesOnly), builder(func.getContext()),
        kept(positions.begin(), positions.end()) {
    func.walk([&](KernelOp op) {
      kept.insert(op);
      operandTypes[op] = llvm::to_vector(op->getOperandTypes());
    });
  }
  void run();

private:
  RankedTensorType narrow(Type type) const {
    return RankedTensorType::get(cast<RankedTensorType>(type).getShape(), storage);
  }
  static bool isWide(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getElementType().isF32();
  }
  void keepPositions();
  bool isTinyProduct(Operation &op);
  bool isScalar(Operation &op);
  bool makesState(Operation &op);
  bool isScalarArgument(Value value);
  void keepBetweenKept();
  void keepStatistics();
  void keepWide();
  void narrowInputs();
  void narrowConstants();
  bool fits(const Weight &weight);
  std::vector<char> rounded(const Weight &weight, StringRef name);
  bool needsNoValues(Value wide, const Weight &weight) const;
  void narrowResults();
  void widenSummands();
  void narrowKept();
  void restoreOperands();
  void widenOutputs();

  func::FuncOp func;
  FloatType storage;
  bool typesOnly;
  OpBuilder builder;
  llvm::SmallSetVector<Operation *, 4> kept; ///< ops whose results stay f32
  llvm::SetVector<Operation *> statistics;   ///< of them sums and tiny products, and what follows from these alone
  llvm::MapVector<Operation *, SmallVector<Type>> operandTypes; ///< of ops whose operands stay as they are
};

// What is computed elementwise from positions and constants alone stays as wide as they are: a rounded position is
// another position.
void Narrowing::keepPositions() {
  if (kept.empty())
    return;
  auto isWideFrom = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op && !isa<KernelOp>(op) && kept.contains(op);
  };
  for (Operation &op : func.getBody().front()) {
    if (isa<AddOp, SubOp, MulOp, DivOp, NegOp, AbsOp, FloorOp, CeilOp, RoundOp, SinOp, CosOp, ReshapeOp, ExpandOp,
            ConcatOp, SliceOp, CompareOp>(op) &&
        (isWide(op.getResult(0).getType()) || isa<CompareOp>(op)) && llvm::any_of(op.getOperands(), isWideFrom) &&
        llvm::all_of(op.getOperands(), [&](Value value) { return isWideFrom(value) || isConstant(value); }))
      kept.insert(&op);
  }
  // What only moves them to other ops moves the narrow values.
  for (Operation &op : llvm::reverse(func.getBody().front()))
    if (kept.contains(&op) && isa<ReshapeOp, ExpandOp, ConcatOp, SliceOp>(op) &&
        llvm::none_of(op.getUsers(), [&](Operation *user) { return kept.contains(user); }))
      kept.remove(&op);
}

// Whether it multiplies by a constant below the normal numbers of the storage type, as a scale of layers that training
// has not begun to open: the product would be flushed to a few bits.
bool Narrowing::isTinyProduct(Operation &op) {
  auto readsWide = [&](OpOperand &use) {
    return isBinary(use.getOwner()) ||
           (isa<func::ReturnOp>(use.getOwner()) && !stateOfResult(func, use.getOperandNumber()));
  };
  if (!isa<MulOp>(op) || !llvm::all_of(op.getUses(), readsWide))
    return false;
  double least = llvm::APFloat::getSmallestNormalized(storage.getFloatSemantics()).convertToDouble();
  return llvm::any_of(op.getOpOperands(), [&](OpOperand &use) {
    if (!isCombinedConstant(use))
      return false;
    std::optional<Weight> weight = getConstant(use.get());
    double greatest = 0;
    for (double value : weight ? toDoubles(*weight) : std::vector<double>())
      greatest = std::max(greatest, std::isnan(value) ? least : std::fabs(value));
    return greatest > 0 && greatest < least;
  });
}

// A binary op of which all operands are kept makes f32, too.
void Narrowing::keepBetweenKept() {
  for (Operation &op : func.getBody().front()) {
    auto isKept = [&](Value value) {
      Operation *maker = value.getDefiningOp();
      return maker ? !isa<KernelOp>(maker) && kept.contains(maker) : isScalarArgument(value);
    };
    if (isBinary(&op) && isWide(op.getResult(0).getType()) && llvm::any_of(op.getOperands(), isKept) &&
        llvm::all_of(op.getOperands(), [&](Value value) { return isKept(value) || isConstant(value); }) &&
        !makesState(op))
      kept.insert(&op);
  }
}

// A single number from outside, such as a scale that another net computed: binary ops read it as it is.
bool Narrowing::isScalarArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isWide(value.getType()) && !isStateArgument(func, argument.getArgNumber()) &&
         cast<RankedTensorType>(value.getType()).getNumElements() == 1;
}

bool Narrowing::makesState(Operation &op) {
  return llvm::any_of(op.getUses(), [&](OpOperand &use) {
    return isa<func::ReturnOp>(use.getOwner()) && stateOfResult(func, use.getOperandNumber());
  });
}

// Whether it computes a single number: as f32 it costs nothing, and the scales of quantised models are such numbers, of
// which products are below the normal numbers of f16.
bool Narrowing::isScalar(Operation &op) {
  return (isElementwise(&op) || isa<RoundOp, FloorOp, CeilOp>(op)) &&
         cast<RankedTensorType>(op.getResult(0).getType()).getNumElements() == 1 && !makesState(op);
}

// Sums that elementwise ops read stay f32, as where one kernel computes both: an average does not round its sum, a root
// does not overflow, and the bits are the same whether the sum is fused with its readers or not. So do tiny products.
void Narrowing::keepStatistics() {
  for (Operation &op : func.getBody().front()) {
    if (op.getNumResults() != 1 || op.use_empty() || !isWide(op.getResult(0).getType()))
      continue;
    auto isStatistic = [&](Value value) { return statistics.contains(value.getDefiningOp()); };
    bool sums = isa<ReduceSumOp, ReduceMeanOp>(op) && llvm::all_of(op.getUsers(), isElementwise);
    bool isTiny = isTinyProduct(op) || isScalar(op);
    if (isTiny) // of f32 operands; the others' are widened last
      operandTypes[&op] = llvm::to_vector(op.getOperandTypes());
    if (sums || isTiny ||
        (isElementwise(&op) && llvm::any_of(op.getOperands(), isStatistic) &&
         llvm::all_of(op.getOperands(), [&](Value value) { return isStatistic(value) || isConstant(value); }))) {
      statistics.insert(&op);
      kept.insert(&op);
    }
  }
}

void Narrowing::widenSummands() {
  for (Operation *op : statistics) {
    if (!isa<ReduceSumOp, ReduceMeanOp>(op) || isWide(op->getOperand(0).getType()))
      continue;
    builder.setInsertionPoint(op);
    op->setOperand(0, builder.create<CastOp>(builder.getUnknownLoc(), op->getOperand(0), builder.getF32Type()));
  }
}

// Other ops read what was kept in the storage type, but casts and binary ones: whole numbers that f16 does not hold may
// go on as integers, or be scaled to what it does.
void Narrowing::narrowKept() {
  auto readsNarrow = [](Operation *op) { return !llvm::all_of(op->getOperandTypes(), isWide); };
  for (Operation *op : kept) {
    Value wide = op->getResult(0);
    auto narrows = [&](OpOperand &use) {
      return !kept.contains(use.getOwner()) && !isa<func::ReturnOp>(use.getOwner()) &&
             (isa<KernelOp>(op) ||
              !(isa<CastOp>(use.getOwner()) || (isBinary(use.getOwner()) && readsNarrow(use.getOwner()))));
    };
    if (!isWide(wide.getType()) || llvm::none_of(wide.getUses(), narrows))
      continue;
    builder.setInsertionPointAfter(op);
    Value narrowed = builder.create<CastOp>(builder.getUnknownLoc(), wide, storage);
    wide.replaceUsesWithIf(narrowed,
                           [&](OpOperand &use) { return use.getOwner() != narrowed.getDefiningOp() && narrows(use); });
  }
}

// What is marked as wide, and what other passes put between such ops, reads and makes f32.
void Narrowing::keepWide() {
  llvm::SmallSetVector<Operation *, 8> wide;
  llvm::SmallPtrSet<Operation *, 8> behind;
  for (Operation &op : func.getBody().front()) {
    if (op.hasAttr(kWideAttr))
      wide.insert(&op);
    if (op.hasAttr(kWideAttr) ||
        llvm::any_of(op.getOperands(), [&](Value value) { return behind.contains(value.getDefiningOp()); }))
      behind.insert(&op);
  }
  for (Operation &op : llvm::reverse(func.getBody().front()))
    if (behind.contains(&op) && getTensorName(op.getLoc()).empty() && !op.use_empty() &&
        llvm::all_of(op.getUsers(), [&](Operation *user) { return wide.contains(user); }))
      wide.insert(&op);
  for (Operation *op : wide)
    if (isWide(op->getResult(0).getType()) && kept.insert(op))
      operandTypes[op] = llvm::to_vector(op->getOperandTypes());
}

// A user's kernel reads the types that it is written for, and so does what is wide.
void Narrowing::restoreOperands() {
  for (auto &[op, types] : operandTypes) {
    builder.setInsertionPoint(op);
    for (auto [operand, type] : llvm::zip(op->getOpOperands(), types))
      if (operand.get().getType() != type)
        operand.set(builder.create<CastOp>(builder.getUnknownLoc(), operand.get(), getElementTypeOrSelf(type)));
  }
}

void Narrowing::narrowInputs() {
  builder.setInsertionPointToStart(&func.getBody().front());
  for (BlockArgument argument : func.getArguments()) {
    if (!isWide(argument.getType()))
      continue;
    // Nobody outside sees a state.
    if (isStateArgument(func, argument.getArgNumber())) {
      argument.setType(narrow(argument.getType()));
      continue;
    }
    if (argument.use_empty())
      continue;
    auto cast = builder.create<CastOp>(UnknownLoc::get(func.getContext()), argument, storage);
    // An argument that the net returns unchanged keeps its type, unless as a state.
    argument.replaceUsesWithIf(cast.getOutput(), [&](OpOperand &use) {
      return use.getOwner() != cast && !operandTypes.contains(use.getOwner()) &&
             !(isBinary(use.getOwner()) && isScalarArgument(argument)) &&
             (!isa<func::ReturnOp>(use.getOwner()) || stateOfResult(func, use.getOperandNumber()));
    });
    if (cast.getOutput().use_empty())
      cast.erase();
  }
}

// Fast path without double: nearly all values are in range.
bool Narrowing::fits(const Weight &weight) {
  float limit = llvm::APFloat::getLargest(storage.getFloatSemantics()).convertToDouble();
  bool result = true;
  for (size_t at = 0; at < weight.bytes.size() && result; at += sizeof(float)) {
    float value;
    std::memcpy(&value, weight.bytes.data() + at, sizeof value);
    result = !std::isfinite(value) || std::fabs(value) <= limit;
  }
  return result;
}

// Rounds to nearest even and saturates: infinity times the zeros of a mask would be NaN.
std::vector<char> Narrowing::rounded(const Weight &weight, StringRef name) {
  if (fits(weight))
    return toFloats(weight, storage);
  double limit = llvm::APFloat::getLargest(storage.getFloatSemantics()).convertToDouble();
  std::vector<double> clipped = toDoubles(weight);
  for (double &value : clipped)
    if (std::isfinite(value))
      value = std::clamp(value, -limit, limit);
  Operation *module = func->getParentOp();
  SmallVector<Attribute> names;
  if (auto known = module->getAttrOfType<ArrayAttr>(kClippedAttr))
    llvm::append_range(names, known);
  names.push_back(builder.getStringAttr(name));
  module->setAttr(kClippedAttr, builder.getArrayAttr(names));
  return fromDoubles(storage, clipped);
}

// Whether no pass decides by the values of the constant: a large operand of ops that have it packed or gathered.
bool Narrowing::needsNoValues(Value wide, const Weight &weight) const {
  constexpr int64_t kLarge = 4096;
  return typesOnly && weight.type.getNumElements() >= kLarge && llvm::all_of(wide.getUses(), [](OpOperand &use) {
           return (isa<MatMulOp, ConvOp>(use.getOwner()) && use.getOperandNumber() == 1) ||
                  (isa<GatherOp>(use.getOwner()) && use.getOperandNumber() == 0);
         });
}

// A constant may have users of both kinds; each kind gets its own copy.
void Narrowing::narrowConstants() {
  SmallVector<Operation *> constants;
  func.walk([&](Operation *op) {
    if (isa<WeightOp, arith::ConstantOp>(op) && isWide(op->getResultTypes()[0]))
      constants.push_back(op);
  });
  for (Operation *op : constants) {
    Value wide = op->getResult(0);
    std::optional<Weight> weight = getConstant(wide);
    if (!weight)
      continue;
    bool hasValues = !needsNoValues(wide, *weight);
    bool combined = llvm::any_of(wide.getUses(), isCombinedConstant) && fits(*weight);
    auto narrows = [&](OpOperand &use) {
      return !staysWide(use) && !(combined && isCombinedConstant(use)) && !isa<func::ReturnOp>(use.getOwner()) &&
             !kept.contains(use.getOwner());
    };
    if (llvm::none_of(wide.getUses(), narrows))
      continue;
    builder.setInsertionPointAfter(op);
    auto named = dyn_cast<WeightOp>(op);
    std::string name = (named ? named.getName().str() : std::string("constant")) + (storage.isF16() ? ".f16" : ".bf16");
    RankedTensorType type = narrow(wide.getType());
    Value converted = hasValues
                          ? createConstant(builder, op->getLoc(), name, type,
                                           rounded(*weight, named ? named.getName() : getTensorName(op->getLoc())))
                          : createConstant(builder, op->getLoc(), name,
                                           Weight{type, weight->bytes.take_front(*tensorBytes(type)), weight->owner});
    if (Attribute sizes = op->getAttr(kSizesAttr))
      converted.getDefiningOp()->setAttr(kSizesAttr, sizes);
    wide.replaceUsesWithIf(converted, narrows);
    if (wide.use_empty())
      op->erase();
  }
}

void Narrowing::narrowResults() {
  for (Operation &op : func.getBody().front()) {
    // Casts of inputs already have the storage type; constants are done above.
    if (op.getDialect() != func.getContext()->getLoadedDialect<TopDialect>() || isa<WeightOp>(op) || kept.contains(&op))
      continue;
    if (auto cast = dyn_cast<CastOp>(op); cast && cast.getTo().isF32())
      cast.setTo(storage);
    if (auto real = dyn_cast<DequantizeOp>(op); real && real.getTo().isF32())
      real.setTo(storage);
    for (Value result : op.getResults())
      if (isWide(result.getType()))
        result.setType(narrow(result.getType()));
  }
  // Drop casts that became identities.
  for (auto cast : llvm::make_early_inc_range(func.getBody().front().getOps<CastOp>()))
    if (cast.getInput().getType() == cast.getOutput().getType()) {
      StringRef name = getTensorName(cast.getLoc());
      if (!name.empty() && name != getTensorName(cast.getInput()))
        addAbsorbed(func->getParentOp(), name);
      cast.getOutput().replaceAllUsesWith(cast.getInput());
      cast.erase();
    }
}

void Narrowing::widenOutputs() {
  Operation *terminator = func.getBody().front().getTerminator();
  builder.setInsertionPoint(terminator);
  DenseMap<Value, Value> made; // a value may be several outputs
  for (auto [operand, type] : llvm::zip(terminator->getOpOperands(), func.getResultTypes())) {
    if (operand.get().getType() == type || stateOfResult(func, operand.getOperandNumber()))
      continue;
    Value &wide = made[operand.get()];
    if (!wide)
      wide = builder.create<CastOp>(
          namedLoc(func.getContext(), getTensorName(operand.get()), getTensorLayout(operand.get())), operand.get(),
          builder.getF32Type());
    operand.set(wide);
  }
}

void Narrowing::run() {
  keepPositions();
  keepWide();
  keepStatistics();
  keepBetweenKept();
  narrowInputs();
  narrowConstants();
  narrowResults();
  widenSummands();
  narrowKept();
  restoreOperands();
  widenOutputs();
  func.setFunctionType(builder.getFunctionType(func.getBody().getArgumentTypes(),
                                               func.getBody().front().getTerminator()->getOperandTypes()));
}

struct TopStorageTypes : impl::TopStorageTypesBase<TopStorageTypes> {
  using TopStorageTypesBase::TopStorageTypesBase;

  void runOnOperation() override {
    FloatType storage;
    if (mode == "F16")
      storage = Float16Type::get(&getContext());
    else if (mode == "BF16")
      storage = BFloat16Type::get(&getContext());
    else if (mode != "F32") {
      getOperation().emitError("top-storage-types has no mode '")
          << mode.getValue() << "'; the modes are F32, F16 and BF16";
      return signalPassFailure();
    }
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      PTO_DEBUG("@" << func.getName() << ": storage " << mode.getValue());
      // Whole numbers up to 2^precision are exact; their ranges are known before booleans become integers.
      SmallVector<Operation *> positions;
      if (storage)
        positions = castsOfLargeIntegers(func, int64_t(1) << storage.getFPMantissaWidth());
      if (failed(narrowIntegers(func)))
        return signalPassFailure();
      if (storage)
        Narrowing(func, storage, positions, typesOnly).run();
    }
  }
};

} // namespace
} // namespace pto_mlir::top
