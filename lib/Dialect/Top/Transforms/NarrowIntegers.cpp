// Stores i64 and i1 as i32: the vector engine computes on neither. The same for 8-bit and unsigned integers in nets
// that compute with them; a net that only moves them keeps their size.
#include "NarrowIntegers.h"
#include "IntegerRanges.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

using namespace mlir;

namespace pto_mlir::top {
namespace {

bool hasUncomputed(TypeRange types) {
  return llvm::any_of(types, [](Type type) { return isUncomputed(getElementTypeOrSelf(type)); });
}

bool computesWithUncomputed(func::FuncOp func) {
  return llvm::any_of(func.getBody().front().without_terminator(), [](Operation &op) {
    return !isa<WeightOp, arith::ConstantOp, ReshapeOp, PermuteOp, SliceOp, ConcatOp, ExpandOp, GatherOp>(op) &&
           (hasUncomputed(op.getOperandTypes()) || hasUncomputed(op.getResultTypes()));
  });
}

class IntegerNarrowing {
public:
  explicit IntegerNarrowing(func::FuncOp func) : func(func), uncomputed(computesWithUncomputed(func)) {}
  LogicalResult run();

private:
  bool isNarrowed(Type type) const {
    auto tensor = dyn_cast<RankedTensorType>(type);
    Type element = tensor ? tensor.getElementType() : Type();
    return tensor && (element.isSignlessInteger(64) || element.isInteger(1) || (uncomputed && isUncomputed(element)));
  }
  Type narrow(Type type) const {
    return isNarrowed(type) ? cast<RankedTensorType>(type).clone(IntegerType::get(type.getContext(), 32)) : type;
  }
  LogicalResult narrowConstant(Operation *op);
  void narrowCast(CastOp op);

  func::FuncOp func;
  bool uncomputed; ///< whether isUncomputed types are stored as i32, too
};

LogicalResult IntegerNarrowing::narrowConstant(Operation *op) {
  Value value = op->getResult(0);
  std::optional<Weight> weight = getConstant(value);
  if (!weight)
    return success();
  std::vector<int64_t> numbers = toInts(*weight);
  auto outside = llvm::find_if(numbers, [](int64_t number) { return number != static_cast<int32_t>(number); });
  auto named = dyn_cast<WeightOp>(op);
  std::string name = named ? named.getName().str() : std::string("constant");
  if (outside != numbers.end())
    return op->emitError() << "the constant " << (named ? "'" + name + "' " : "") << "holds " << *outside
                           << "; integers are 32 bits wide on the device";
  auto type = cast<RankedTensorType>(narrow(value.getType()));
  OpBuilder builder(op);
  value.replaceAllUsesWith(
      createConstant(builder, op->getLoc(), name + ".i32", type, fromInts(type.getElementType(), numbers)));
  op->erase();
  return success();
}

// A cast to boolean tests against 0; a cast between types with the same storage is the identity.
void IntegerNarrowing::narrowCast(CastOp op) {
  auto input = cast<RankedTensorType>(op.getInput().getType());
  OpBuilder builder(op);
  auto result = cast<RankedTensorType>(narrow(op.getType()));
  if (op.getTo().isInteger(1)) {
    Value zero = createConstant(builder, builder.getUnknownLoc(), "", RankedTensorType::get({}, input.getElementType()),
                                fromDoubles(input.getElementType(), 0.0));
    auto isZero = builder.create<CompareOp>(builder.getUnknownLoc(), result, op.getInput(), zero, "eq");
    op.replaceAllUsesWith(builder.create<NotOp>(op.getLoc(), result, isZero).getOutput());
    op.erase();
  } else if (isNarrowed(op.getType())) {
    op.setTo(result.getElementType());
    op.getOutput().setType(result);
  }
}

LogicalResult IntegerNarrowing::run() {
  Block &block = func.getBody().front();
  SmallVector<Operation *> constants;
  for (Operation &op : block)
    if (isa<WeightOp, arith::ConstantOp>(op) && isNarrowed(op.getResult(0).getType()))
      constants.push_back(&op);
  for (Operation *op : constants)
    if (failed(narrowConstant(op)))
      return failure();
  if (failed(boundIntegers(func)))
    return failure();
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
    if (isNarrowed(type)) {
      func.setArgAttr(i, kTypeAttr, TypeAttr::get(getElementTypeOrSelf(type)));
      block.getArgument(i).setType(narrow(type));
    }
  for (auto [i, type] : llvm::enumerate(func.getResultTypes()))
    if (isNarrowed(type))
      func.setResultAttr(i, kTypeAttr, TypeAttr::get(getElementTypeOrSelf(type)));
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto cast = dyn_cast<CastOp>(op)) {
      narrowCast(cast);
      continue;
    }
    if (isa<TopDialect>(op.getDialect()))
      for (Value result : op.getResults())
        result.setType(narrow(result.getType()));
  }
  // Drop casts between types with the same storage, except where the net would return its own argument.
  for (auto cast : llvm::make_early_inc_range(block.getOps<CastOp>())) {
    bool returned = llvm::any_of(cast->getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user); });
    if (cast.getInput().getType() != cast.getOutput().getType() || (returned && isa<BlockArgument>(cast.getInput())))
      continue;
    StringRef name = getTensorName(cast.getLoc());
    if (!name.empty() && name != getTensorName(cast.getInput()))
      addAbsorbed(func->getParentOp(), name);
    cast.getOutput().replaceAllUsesWith(cast.getInput());
    cast.erase();
  }
  func.setType(
      FunctionType::get(func.getContext(), block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
  return success();
}

} // namespace

LogicalResult narrowIntegers(func::FuncOp func) { return IntegerNarrowing(func).run(); }

} // namespace pto_mlir::top
