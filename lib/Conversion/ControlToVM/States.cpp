// State in a program: nets read and write it in place, the program itself has no value of it.
#include "Splitter.h"
#include "pto_mlir/Dialect/Top/IR/State.h"

using namespace mlir;

namespace pto_mlir::control_to_vm {

void Splitter::findStates() {
  for (BlockArgument argument : main.getArguments())
    if (top::isStateArgument(main, argument.getArgNumber())) {
      states.push_back(argument);
      versions[argument] = argument;
      newest[argument] = argument;
    }
}

FunctionType Splitter::programType() {
  SmallVector<Type> inputs, results;
  for (auto [i, type] : llvm::enumerate(main.getArgumentTypes()))
    if (!top::isStateArgument(main, i))
      inputs.push_back(type);
  for (auto [i, type] : llvm::enumerate(main.getResultTypes()))
    if (!main.getResultAttr(i, top::kStateOfAttr))
      results.push_back(type);
  return b.getFunctionType(inputs, results);
}

LogicalResult Splitter::trackStates(Net &net) {
  net.before = newest;
  llvm::SmallMapVector<BlockArgument, Value, 4> written;
  for (Operation *op : net.ops) {
    auto write = dyn_cast<top::StateWriteOp>(op);
    for (Value operand : op->getOperands()) {
      BlockArgument state = versions.lookup(operand);
      if (!state)
        continue;
      net.hasState = true;
      bool isMadeHere = written.contains(state) && operand != net.before.lookup(state);
      if (!isMadeHere && operand != net.before.lookup(state))
        return op->emitError() << "reads the state '" << top::getTensorName(state)
                               << "' as it was before rows were written into it; read the new value, or leave the pair "
                                  "out of --state";
      if (!write || operand != write.getState())
        continue;
      if (operand != newest.lookup(state) || op->getBlock() != &main.getBody().front())
        return op->emitError() << "writes into the state '" << top::getTensorName(state)
                               << "' inside of a branch or loop, or beside another write; leave the pair out of "
                                  "--state";
      versions[write.getResult()] = state;
      newest[state] = write.getResult();
      written[state] = write.getResult();
    }
  }
  net.stores.append(written.begin(), written.end());
  return success();
}

LogicalResult Splitter::storeStates(Net &net) {
  for (auto [i, value] : llvm::enumerate(main.getBody().front().getTerminator()->getOperands())) {
    std::optional<unsigned> number = top::stateOfResult(main, i);
    if (!number)
      continue;
    BlockArgument state = main.getArgument(*number);
    if (newest.lookup(state) == value)
      continue;
    if (*top::stateAxis(main, *number) >= 0 || newest.lookup(state) != state)
      return main.emitError() << "the new value of state '" << top::getTensorName(state)
                              << "' is not made of it by writing rows outside of branches and loops";
    net.stores.push_back({state, value});
    net.hasState = true;
  }
  return success();
}

void Splitter::markStored(func::FuncOp function, unsigned number, BlockArgument state) {
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (top::stateOfResult(main, i) == state.getArgNumber())
      function.setResultAttrs(number, main.getResultAttrDict(i));
}

void Splitter::addStateArguments(func::FuncOp function, const Net &net, IRMapping &mapping) {
  for (BlockArgument state : states) {
    unsigned from = state.getArgNumber(), number = function.getNumArguments();
    function.insertArgument(number, state.getType(), main.getArgAttrDict(from), state.getLoc());
    StringAttr made = b.getStringAttr("");
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      if (top::stateOfResult(main, i) == from)
        made = main.getResultAttrOfType<StringAttr>(i, top::kNameAttr);
    if (top::stateAxis(main, from))
      function.setArgAttr(number, top::kStateNewAttr, made);
    mapping.map(net.before.lookup(state), function.getArgument(number));
  }
  for (StringRef name : {top::kStateRowsAttr, top::kStateLimitAttr})
    if (Attribute value = main->getAttr(name))
      function->setAttr(name, value);
  function->setAttr(top::kStateGroupAttr, b.getStringAttr(module.getSymName().value_or("net")));
}

Value Splitter::copyOfState(Value value) {
  BlockArgument state = versions.lookup(value);
  if (newest.lookup(state) != value) {
    isBroken = true;
    main.emitError() << "the state '" << top::getTensorName(state)
                     << "' is read as it was before rows were written into it; read the new value, or leave the pair "
                        "out of --state";
  }
  Net net;
  net.results.push_back(value);
  net.before = newest;
  net.hasState = true;
  return callNet(net).front();
}

} // namespace pto_mlir::control_to_vm
