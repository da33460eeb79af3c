// Outlines the ops between control flow into nets: nested modules with their own @main.
#include "Splitter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace pto_mlir::control_to_vm {

static bool isConstant(Value value) { return isa_and_nonnull<top::WeightOp, arith::ConstantOp>(value.getDefiningOp()); }

LogicalResult Splitter::emitNet(ArrayRef<Operation *> ops, bool isLast) {
  Net net;
  net.ops.assign(ops.begin(), ops.end());
  if (failed(trackStates(net)) || (isLast && failed(storeStates(net))))
    return failure();
  llvm::SmallPtrSet<Operation *, 16> inside(ops.begin(), ops.end());
  auto take = [&](Value value) {
    if (!inside.contains(value.getDefiningOp()) && !isConstant(value) && !isState(value))
      net.inputs.insert(value);
  };
  for (Operation *op : ops) {
    llvm::for_each(op->getOperands(), take);
    for (Value result : op->getResults())
      if (!isState(result) && llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        net.results.push_back(result);
  }
  for (auto [state, value] : net.stores)
    take(value);
  if (net.results.empty() && net.stores.empty())
    return success();
  for (auto [result, value] : llvm::zip_equal(net.results, callNet(net)))
    held[result] = {value, Value()};
  return success();
}

void Splitter::nameTensors(func::FuncOp function, const Net &net) {
  llvm::StringSet<> taken;
  for (BlockArgument state : states)
    taken.insert(top::getTensorName(state));
  auto unique = [&](Value value, StringRef otherwise) {
    std::string base = top::getTensorName(value).str(), text = base.empty() ? otherwise.str() : base;
    for (unsigned i = 2; !taken.insert(text).second; ++i)
      text = (base.empty() ? otherwise.str() : base) + "_" + std::to_string(i);
    return b.getStringAttr(text);
  };
  for (auto [i, store] : llvm::enumerate(net.stores)) {
    markStored(function, net.results.size() + i, store.first);
    taken.insert(function.getResultAttrOfType<StringAttr>(net.results.size() + i, top::kNameAttr).getValue());
  }
  // Name results first: debug comparisons look them up by name.
  for (auto [i, result] : llvm::enumerate(net.results))
    function.setResultAttr(i, top::kNameAttr, unique(result, "result"));
  for (auto [i, input] : llvm::enumerate(net.inputs)) {
    StringAttr text = unique(input, "input");
    function.setArgAttr(i, top::kNameAttr, text);
    function.getArgument(i).setLoc(top::namedLoc(b.getContext(), text.getValue()));
  }
}

ValueRange Splitter::callNet(const Net &net) {
  SmallVector<Value> operands, returns = net.results;
  for (Value input : net.inputs)
    operands.push_back(tensor(input));
  for (auto [state, value] : net.stores)
    returns.push_back(value);

  std::string name = module.getSymName().value_or("net").str() + "_" + std::to_string(numNets++);
  for (char &c : name)
    c = llvm::isAlnum(c) ? c : '_';
  OpBuilder inner(module.getBodyRegion());
  inner.setInsertionPointToEnd(module.getBody());
  auto body = inner.create<ModuleOp>(loc, name);
  if (auto state = module->getAttr(top::kStateAttr))
    body->setAttr(top::kStateAttr, state);
  // What was lost before the nets parted; reports join those of all nets.
  if (Attribute absorbed = module->getAttr(top::kAbsorbedAttr))
    body->setAttr(top::kAbsorbedAttr, absorbed);
  inner.setInsertionPointToEnd(body.getBody());
  auto function = inner.create<func::FuncOp>(
      loc, "main",
      inner.getFunctionType(ValueRange(net.inputs.getArrayRef()).getTypes(), ValueRange(returns).getTypes()));
  inner.setInsertionPointToEnd(function.addEntryBlock());
  nameTensors(function, net);
  IRMapping mapping;
  mapping.map(net.inputs.getArrayRef(), function.getArguments());
  if (net.hasState)
    addStateArguments(function, net, mapping);
  auto use = [&](Value value) {
    if (isConstant(value) && !mapping.contains(value))
      inner.clone(*value.getDefiningOp(), mapping);
  };
  for (Operation *op : net.ops) {
    for (Value operand : op->getOperands())
      use(operand);
    inner.clone(*op, mapping);
  }
  SmallVector<Value> returned;
  for (Value result : returns) {
    use(result);
    returned.push_back(mapping.lookup(result));
  }
  inner.create<func::ReturnOp>(loc, returned);
  return b
      .create<vm::CallOp>(loc, ValueRange(net.results).getTypes(), "device." + name, operands, b.getI64IntegerAttr(0))
      .getResults();
}

} // namespace pto_mlir::control_to_vm
