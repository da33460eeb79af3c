// Outlines the ops between control flow into nets: nested modules with their own @main.
#include "Splitter.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace pto_mlir::control_to_vm {

static bool isConstant(Value value) { return isa_and_nonnull<top::WeightOp, arith::ConstantOp>(value.getDefiningOp()); }

void Splitter::emitNet(ArrayRef<Operation *> ops) {
  llvm::SmallPtrSet<Operation *, 16> inside(ops.begin(), ops.end());
  llvm::SetVector<Value> inputs;
  SmallVector<Value> results;
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      if (!inside.contains(operand.getDefiningOp()) && !isConstant(operand))
        inputs.insert(operand);
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        results.push_back(result);
  }
  if (results.empty())
    return;
  for (auto [result, value] : llvm::zip_equal(results, callNet(ops, inputs.getArrayRef(), results)))
    held[result] = {value, Value()};
}

ValueRange Splitter::callNet(ArrayRef<Operation *> ops, ArrayRef<Value> inputs, ArrayRef<Value> results) {
  SmallVector<Value> operands;
  for (Value input : inputs)
    operands.push_back(tensor(input));

  std::string name = module.getSymName().value_or("net").str() + "_" + std::to_string(numNets++);
  for (char &c : name)
    c = llvm::isAlnum(c) ? c : '_';
  OpBuilder inner(module.getBodyRegion());
  inner.setInsertionPointToEnd(module.getBody());
  auto net = inner.create<ModuleOp>(loc, name);
  if (auto state = module->getAttr(top::kStateAttr))
    net->setAttr(top::kStateAttr, state);
  inner.setInsertionPointToEnd(net.getBody());
  auto function = inner.create<func::FuncOp>(
      loc, "main", inner.getFunctionType(ValueRange(inputs).getTypes(), ValueRange(results).getTypes()));
  Block *entry = function.addEntryBlock();
  llvm::StringSet<> taken;
  auto unique = [&](Value value, StringRef otherwise) {
    std::string base = top::getTensorName(value).str(), text = base.empty() ? otherwise.str() : base;
    for (unsigned i = 2; !taken.insert(text).second; ++i)
      text = (base.empty() ? otherwise.str() : base) + "_" + std::to_string(i);
    return inner.getStringAttr(text);
  };
  IRMapping mapping;
  inner.setInsertionPointToEnd(entry);
  // Name results first: debug comparisons look them up by name.
  for (auto [i, result] : llvm::enumerate(results))
    function.setResultAttr(i, top::kNameAttr, unique(result, "result"));
  for (auto [input, argument] : llvm::zip_equal(inputs, entry->getArguments())) {
    StringAttr text = unique(input, "input");
    function.setArgAttr(argument.getArgNumber(), top::kNameAttr, text);
    argument.setLoc(top::namedLoc(b.getContext(), text.getValue()));
    mapping.map(input, argument);
  }
  auto use = [&](Value value) {
    if (isConstant(value) && !mapping.contains(value))
      inner.clone(*value.getDefiningOp(), mapping);
  };
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      use(operand);
    inner.clone(*op, mapping);
  }
  SmallVector<Value> returned;
  for (Value result : results) {
    use(result);
    returned.push_back(mapping.lookup(result));
  }
  inner.create<func::ReturnOp>(loc, returned);
  return b.create<vm::CallOp>(loc, ValueRange(results).getTypes(), "device." + name, operands, b.getI64IntegerAttr(0))
      .getResults();
}

} // namespace pto_mlir::control_to_vm
