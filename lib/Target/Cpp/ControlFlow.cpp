// Loops and branches. A value that they carry is a variable, declared before them; what they give is the same variable.
#include "FunctionEmitter.h"
#include "Types.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pto_mlir::cpp {

/// Declares the variable of a carried value; `init` may be null: the branches assign it.
LogicalResult FunctionEmitter::declareCarried(Value value, StringRef name, Value init) {
  texts[value] = name;
  if (auto type = dyn_cast<pto::TileBufType>(value.getType())) {
    std::string spelled = tileType(type, policy);
    if (spelled.empty())
      return refuse(value) << "a tile of " << type.getElementType();
    if (policy.prologue) {
      out.line("using " + name + "Type = " + spelled + ";");
      spelled = name.str() + "Type";
    }
    typeTexts[value] = spelled;
    out.line(spelled + " " + name + (init ? " = " + text(init).str() : "") + ";");
    return success();
  }
  std::string type = scalarType(value.getType(), policy);
  if (type.empty())
    return refuse(value) << "a loop or branch carries numbers, pointers and tiles, not " << value.getType();
  if (!init)
    out.line(type + " " + name + ";");
  else if (policy.deducedVariables && !matchPattern(init, m_Constant()))
    out.line("auto " + name + " = " + text(init) + ";");
  else
    out.line(type + " " + name + " = " + text(init) + ";");
  return success();
}

/// Assigns together: where a later value may read an earlier target, through variables of their own.
LogicalResult FunctionEmitter::assignAll(ArrayRef<std::string> targets, ValueRange values) {
  SmallVector<std::string> sources;
  for (auto [k, value] : llvm::enumerate(values)) {
    std::string source = text(value).str();
    bool reads = llvm::any_of(targets.take_front(k),
                              [&](const std::string &target) { return StringRef(source).contains(target); });
    if (reads && source != targets[k]) {
      std::string next = names.fresh(targets[k] + "_next");
      out.line("auto " + next + " = " + source + ";");
      source = next;
    }
    sources.push_back(source);
  }
  for (auto [target, source] : llvm::zip_equal(targets, sources))
    if (target != source)
      out.line(target + " = " + source + ";");
  return success();
}

/// At most 8 iterations, by constants.
static bool mayUnroll(scf::ForOp op) {
  auto count = constantTripCount(op.getLowerBound(), op.getUpperBound(), op.getStep());
  return count && *count > 0 && *count <= 8;
}

LogicalResult FunctionEmitter::loop(scf::ForOp op) {
  SmallVector<std::string> carried;
  for (auto [argument, init, result] : llvm::zip_equal(op.getRegionIterArgs(), op.getInitArgs(), op.getResults())) {
    carried.push_back(nameFor(argument));
    if (failed(declareCarried(argument, carried.back(), init)))
      return failure();
    texts[result] = carried.back();
    typeTexts[result] = typeTexts.lookup(argument);
  }
  if (options.hints && mayUnroll(op))
    out.line("#pragma unroll");
  std::string variable = nameFor(op.getInductionVar());
  texts[op.getInductionVar()] = variable;
  out.open("for (" + scalarType(op.getInductionVar().getType(), policy) + " " + variable + " = " +
           text(op.getLowerBound()) + "; " + variable + " < " + text(op.getUpperBound()) + "; " + variable +
           " += " + text(op.getStep()) + ")");
  if (failed(block(*op.getBody())) || failed(assignAll(carried, op.getBody()->getTerminator()->getOperands())))
    return failure();
  out.close();
  return success();
}

LogicalResult FunctionEmitter::whileLoop(scf::WhileOp op) {
  SmallVector<std::string> carried, given;
  for (auto [argument, init] : llvm::zip_equal(op.getBeforeArguments(), op.getInits())) {
    carried.push_back(nameFor(argument));
    if (failed(declareCarried(argument, carried.back(), init)))
      return failure();
  }
  for (auto [argument, result] : llvm::zip_equal(op.getAfterArguments(), op.getResults())) {
    given.push_back(nameFor(result));
    if (failed(declareCarried(argument, given.back(), nullptr)))
      return failure();
    texts[result] = given.back();
    typeTexts[result] = typeTexts.lookup(argument);
  }
  out.open("while (true)");
  if (failed(block(*op.getBeforeBody())))
    return failure();
  scf::ConditionOp condition = op.getConditionOp();
  if (failed(assignAll(given, condition.getArgs())))
    return failure();
  out.line("if (!" + text(condition.getCondition()) + ") break;");
  if (failed(block(*op.getAfterBody())) || failed(assignAll(carried, op.getYieldOp().getOperands())))
    return failure();
  out.close();
  return success();
}

LogicalResult FunctionEmitter::branch(scf::IfOp op) {
  SmallVector<std::string> given;
  for (Value result : op.getResults()) {
    given.push_back(nameFor(result));
    if (failed(declareCarried(result, given.back(), nullptr)))
      return failure();
  }
  std::string condition = text(op.getCondition()).str();
  out.open("if (" + condition + ")");
  if (failed(block(*op.thenBlock())) || failed(assignAll(given, op.thenYield().getOperands())))
    return failure();
  if (op.elseBlock()) {
    out.reopen("else");
    if (failed(block(*op.elseBlock())) || failed(assignAll(given, op.elseYield().getOperands())))
      return failure();
  }
  out.close();
  return success();
}

} // namespace pto_mlir::cpp
