#include "GraphTensors.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "pto_mlir/Dialect/VM/IR/VMProgram.h"
#include "pto_mlir/Support/MathExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir {
namespace {

bool isTensor(Value value) { return mlir::isa<ShapedType>(value.getType()); }

/// Tensors that share memory, or that one value of the program may be.
class Unions {
public:
  explicit Unions(func::FuncOp main) {
    main.walk([&](Operation *op) {
      TypeSwitch<Operation *>(op)
          .Case<vm::ViewOp, vm::ReshapeOp, vm::CastOp>([&](auto part) { join(part.getResult(), part.getSource()); })
          .Case<vm::SelectOp>([&](vm::SelectOp select) {
            join(select.getResult(), select.getLhs());
            join(select.getResult(), select.getRhs());
          })
          .Case<vm::CopyOp>([&](vm::CopyOp copy) { join(copy.getTarget(), copy.getSource()); })
          .Case<BranchOpInterface>([&](BranchOpInterface branch) {
            for (auto [i, target] : llvm::enumerate(branch->getSuccessors()))
              for (auto [argument, given] :
                   llvm::zip(target->getArguments(), branch.getSuccessorOperands(i).getForwardedOperands()))
                join(argument, given);
          });
    });
  }

  Value rootOf(Value value) {
    for (auto found = parents.find(value); found != parents.end(); found = parents.find(value))
      value = found->second;
    return value;
  }

private:
  void join(Value a, Value b) {
    if (!isTensor(a) || rootOf(a) == rootOf(b))
      return;
    parents[rootOf(a)] = rootOf(b);
  }

  DenseMap<Value, Value> parents;
};

/// The greatest value of a number, where constants bound it.
std::optional<int64_t> upperBound(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  auto op = value.getDefiningOp<vm::BinaryOp>();
  if (!op)
    return std::nullopt;
  std::optional<int64_t> lhs = upperBound(op.getLhs()), rhs = upperBound(op.getRhs());
  if (op.getKind() == "imin" && !(lhs && rhs))
    return lhs ? lhs : rhs;
  if (!lhs || !rhs)
    return std::nullopt;
  if (op.getKind() == "imin")
    return std::min(*lhs, *rhs);
  if (op.getKind() == "imax")
    return std::max(*lhs, *rhs);
  int64_t result = 0;
  if (op.getKind() == "iadd" && !llvm::AddOverflow(*lhs, *rhs, result))
    return result;
  bool byConstant =
      matchPattern(op.getRhs(), m_ConstantInt(&constant)) || matchPattern(op.getLhs(), m_ConstantInt(&constant));
  if (op.getKind() == "imul" && byConstant && !constant.isNegative() && !llvm::MulOverflow(*lhs, *rhs, result))
    return result;
  return std::nullopt;
}

/// Whether control comes back to a block.
bool isInLoop(Block *block) {
  SmallVector<Block *> pending(block->getSuccessors());
  llvm::SmallPtrSet<Block *, 8> seen;
  while (!pending.empty()) {
    Block *next = pending.pop_back_val();
    if (next == block)
      return true;
    if (seen.insert(next).second)
      llvm::append_range(pending, next->getSuccessors());
  }
  return false;
}

} // namespace

ArrayRef<BlockArgument> GraphTensors::liveAt(Value reserved) const {
  auto found = live.find(reserved);
  return found == live.end() ? ArrayRef<BlockArgument>() : ArrayRef(found->second);
}

void GraphTensors::findLive(func::FuncOp main) {
  DominanceInfo dominance(main);
  main.walk([&](vm::ReserveOp reserve) {
    if (!isInLoop(reserve->getBlock()))
      return;
    unsigned group = groupNumbers.at(reserve.getResult());
    for (Block &block : main.getBody())
      for (BlockArgument argument : block.getArguments())
        if (isTensor(argument) && !block.isEntryBlock() && groupNumbers.at(argument) == group &&
            dominance.dominates(&block, reserve->getBlock()))
          live[reserve.getResult()].push_back(argument);
  });
}

LogicalResult GraphTensors::addReserved(Operation *op, unsigned number) {
  auto reserve = mlir::cast<vm::ReserveOp>(op);
  std::optional<int64_t> elements;
  if (reserve.getExtents().size() == 1)
    elements = upperBound(reserve.getExtents()[0]);
  if (!elements)
    return reserve.emitError("makes a tensor of a size that a run decides, and a kernel of an operator has its memory "
                             "when it is compiled; bound the extent: `pl.min(n, 128)`");
  Group &group = groups[number];
  Type element = mlir::cast<RankedTensorType>(reserve.getResult().getType()).getElementType();
  if (!group.slot) {
    group.slot = slots.size();
    slots.emplace_back(0, element);
  }
  if (slots[*group.slot].second != element)
    return reserve.emitError("meets tensors of another element type");
  members[reserve.getResult()] = group.parts;
  group.part = std::max({group.part, *elements, int64_t(1)});
  group.parts += 1 + int64_t(liveAt(reserve.getResult()).size());
  return success();
}

FailureOr<GraphTensors> GraphTensors::of(func::FuncOp main) {
  GraphTensors made;
  Unions unions(main);
  DenseMap<Value, unsigned> roots;
  auto add = [&](Value value) {
    if (!isTensor(value))
      return;
    auto [found, isNew] = roots.try_emplace(unions.rootOf(value), made.groups.size());
    if (isNew)
      made.groups.emplace_back();
    made.groupNumbers[value] = found->second;
  };
  for (Block &block : main.getBody()) {
    llvm::for_each(block.getArguments(), add);
    for (Operation &op : block)
      llvm::for_each(op.getResults(), add);
  }
  made.findLive(main);
  LogicalResult all = success();
  main.walk([&](vm::ReserveOp reserve) {
    if (failed(made.addReserved(reserve, made.groupNumbers.at(reserve.getResult()))))
      all = failure();
  });
  for (BlockArgument argument : main.getArguments()) {
    Group &group = made.groups[made.groupNumbers.at(argument)];
    made.members[argument] = group.parts + int64_t(group.arguments.size());
    group.arguments.push_back(argument);
  }
  for (Group &group : made.groups)
    if (group.slot) {
      constexpr int64_t together = 256; // a part begins where a DMA block does
      if (group.parts > 1)
        group.part = roundUp(group.part, together);
      made.slots[*group.slot].first = group.parts * group.part;
    }
  if (failed(all))
    return failure();
  return made;
}

} // namespace pto_mlir
