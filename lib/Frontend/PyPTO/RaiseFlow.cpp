// Loops, branches and sections of kernels as PyPTO's. Tiles that hold something before and are written inside are
// carried.
#include "Raiser.h"
#include "Types.h"
#include "pypto/core/error.h"

using namespace mlir;
using pypto::DataType;

namespace pto_mlir::pypto_frontend {

/// Adds the buffers that a region reads where nothing on the way has written them: what a loop's first turn finds, or
/// what one arm of a branch has left.
static void readUnwritten(Block &block, llvm::SetVector<Value> &written, llvm::SetVector<Value> &found) {
  for (Operation &op : block) {
    if (auto view = dyn_cast<pto::SubViewOp>(op); view && isWhole(view))
      continue; // another name, which what it is read as tells
    Operands of = operandsOf(&op);
    for (Value operand : op.getOperands())
      if (mlir::isa<pto::TileBufType>(operand.getType()) && operand != of.scratch &&
          (operand != of.dst || llvm::is_contained(of.inputs, operand)))
        if (Value root = rootOf(operand); !written.contains(root))
          found.insert(root);
    if (of.dst && partOf(of.dst) && !written.contains(rootOf(of.dst)))
      found.insert(rootOf(of.dst)); // the rest stays as it is
    if (of.dst)
      written.insert(rootOf(of.dst));
    bool isSection = mlir::isa<pto::SectionCubeOp, pto::SectionVectorOp>(op);
    for (Region &region : op.getRegions()) {
      llvm::SetVector<Value> inside = written;
      for (Block &inner : region)
        readUnwritten(inner, isSection ? written : inside, found);
    }
  }
}

llvm::SetVector<Value> readUnwritten(Block &block) {
  llvm::SetVector<Value> written, found;
  readUnwritten(block, written, found);
  return found;
}

SmallVector<Value> Raiser::written(Region &region) {
  SmallVector<Value> roots;
  region.walk([&](Operation *inner) {
    Value target = operandsOf(inner).dst;
    Value root = target ? rootOf(target) : Value();
    if (root && held.count(root) && !llvm::is_contained(roots, root))
      roots.push_back(root);
  });
  return roots;
}

ir::VarPtr Raiser::variable(const std::string &name, const ir::TypePtr &type) {
  return std::make_shared<const ir::Var>(name + std::to_string(count++), type, ir::Span());
}

static ir::TypePtr scalarTypeOf(Value value) {
  auto dtype = value.getType().isInteger(1) ? std::optional(DataType::BOOL) : dtypeOf(value.getType());
  return dtype ? std::make_shared<const ir::ScalarType>(*dtype) : nullptr;
}

/// The statements of a region, which ends by handing on the tiles and scalars; null with an error.
ir::StmtPtr Raiser::arm(Region &region, ArrayRef<Value> carried, const llvm::MapVector<Value, Held> &before) {
  std::vector<ir::StmtPtr> outer = std::exchange(out, {});
  std::vector<ir::ExprPtr> last;
  bool done = succeeded(block(region.front()));
  Operation *end = done ? region.front().getTerminator() : nullptr;
  for (size_t i = 0; done && i < carried.size(); ++i)
    done = bool(last.emplace_back(read(end, before.find(carried[i])->second.as)));
  for (size_t i = 0; done && i < end->getNumOperands(); ++i)
    done = bool(last.emplace_back(scalar(end, end->getOperand(i))));
  if (done && !last.empty())
    out.push_back(std::make_shared<const ir::YieldStmt>(last, ir::Span()));
  auto body = std::make_shared<const ir::SeqStmts>(std::exchange(out, std::move(outer)), ir::Span());
  return done ? body : nullptr;
}

FailureOr<std::vector<ir::VarPtr>> Raiser::resultsOf(Operation *op, ArrayRef<Value> carried,
                                                     const llvm::MapVector<Value, Held> &before) {
  std::vector<ir::VarPtr> results;
  for (Value root : carried)
    results.push_back(variable("r", before.find(root)->second.var->type_));
  for (Value result : op->getResults()) {
    ir::TypePtr type = scalarTypeOf(result);
    if (!type)
      return op->emitOpError("hands on a value that PyPTO has no type for");
    scalars[result] = results.emplace_back(variable("r", type));
  }
  return results;
}

/// After it the carried tiles are its results; what else it has written is gone.
void Raiser::leave(llvm::MapVector<Value, Held> before, ArrayRef<Value> carried, ArrayRef<ir::VarPtr> results) {
  held = std::move(before);
  for (auto [root, result] : llvm::zip(carried, results))
    held[root].var = result;
}

LogicalResult Raiser::loop(scf::ForOp op) {
  SmallVector<ir::ExprPtr> bounds;
  for (Value value : {op.getLowerBound(), op.getUpperBound(), op.getStep()}) {
    bounds.push_back(scalar(op, value));
    if (!bounds.back())
      return failure();
  }
  ir::VarPtr index = variable("i", std::make_shared<const ir::ScalarType>(DataType::INDEX));
  scalars[op.getInductionVar()] = index;
  llvm::MapVector<Value, Held> before = held;
  SmallVector<Value> carried = written(op.getRegion());
  std::vector<ir::IterArgPtr> args;
  auto carry = [&](const ir::TypePtr &type, const ir::ExprPtr &initial) {
    return args.emplace_back(
        std::make_shared<const ir::IterArg>("c" + std::to_string(count++), type, initial, ir::Span()));
  };
  for (Value root : carried) {
    Held &now = held[root];
    now.var = carry(now.var->type_, now.var);
  }
  for (auto [initial, argument] : llvm::zip(op.getInitArgs(), op.getRegionIterArgs())) {
    ir::ExprPtr first = scalar(op, initial);
    ir::TypePtr type = scalarTypeOf(argument);
    if (!first || !type)
      return failure();
    scalars[argument] = carry(type, first);
  }
  ir::StmtPtr body = arm(op.getRegion(), carried, before);
  auto results = body ? resultsOf(op, carried, before) : FailureOr<std::vector<ir::VarPtr>>(failure());
  if (failed(results))
    return failure();
  out.push_back(
      std::make_shared<const ir::ForStmt>(index, bounds[0], bounds[1], bounds[2], args, body, *results, ir::Span()));
  leave(std::move(before), carried, *results);
  return success();
}

LogicalResult Raiser::branch(scf::IfOp op) {
  ir::ExprPtr condition = scalar(op, op.getCondition());
  if (!condition)
    return failure();
  llvm::MapVector<Value, Held> before = held;
  SmallVector<Value> carried = written(op.getThenRegion());
  for (Value root : written(op.getElseRegion()))
    if (!llvm::is_contained(carried, root))
      carried.push_back(root);
  ir::StmtPtr then = arm(op.getThenRegion(), carried, before);
  held = before;
  std::optional<ir::StmtPtr> other;
  if (then && !op.getElseRegion().empty()) {
    other = arm(op.getElseRegion(), carried, before);
  } else if (then && !carried.empty()) { // the other way leaves them as they are
    std::vector<ir::ExprPtr> same;
    for (Value root : carried)
      same.push_back(before[root].var);
    auto yield = std::make_shared<const ir::YieldStmt>(same, ir::Span());
    other = std::make_shared<const ir::SeqStmts>(std::vector<ir::StmtPtr>{yield}, ir::Span());
  }
  auto results =
      then && (!other || *other) ? resultsOf(op, carried, before) : FailureOr<std::vector<ir::VarPtr>>(failure());
  if (failed(results))
    return failure();
  out.push_back(std::make_shared<const ir::IfStmt>(condition, then, other, *results, ir::Span()));
  leave(std::move(before), carried, *results);
  return success();
}

/// A kernel with code for one kind of core is a function of that kind.
LogicalResult Raiser::section(Operation *op) {
  ir::FunctionType of = mlir::isa<pto::SectionCubeOp>(op) ? ir::FunctionType::AIC : ir::FunctionType::AIV;
  if (type != ir::FunctionType::InCore && type != of)
    return op->emitOpError("is of a kernel with code for both kinds of cores, which are two functions in PyPTO");
  type = of;
  return block(op->getRegion(0).front());
}

} // namespace pto_mlir::pypto_frontend
