#include "pto_mlir/Dialect/Top/IR/State.h"

#include "pto_mlir/Dialect/Top/IR/Names.h"

using namespace mlir;

namespace pto_mlir::top {

std::optional<int64_t> stateAxis(func::FuncOp main, unsigned argument) {
  auto axis = main.getArgAttrOfType<IntegerAttr>(argument, kStateAxisAttr);
  return axis ? std::optional(axis.getInt()) : std::nullopt;
}

bool isStateArgument(func::FuncOp main, unsigned argument) {
  return stateAxis(main, argument) || main.getArgAttr(argument, kStatePositionAttr);
}

bool isState(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto main = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return main && stateAxis(main, argument.getArgNumber());
}

std::optional<unsigned> stateOfResult(func::FuncOp main, unsigned result) {
  auto name = main.getResultAttrOfType<StringAttr>(result, kStateOfAttr);
  for (unsigned i = 0; name && i < main.getNumArguments(); ++i)
    if (stateAxis(main, i) && main.getArgAttrOfType<StringAttr>(i, kNameAttr) == name)
      return i;
  return std::nullopt;
}

bool hasState(func::FuncOp main) {
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (isStateArgument(main, i))
      return true;
  return false;
}

void forgetStates(func::FuncOp main) {
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    main.removeArgAttr(i, StringAttr::get(main.getContext(), kStateAxisAttr));
    main.removeArgAttr(i, StringAttr::get(main.getContext(), kStatePositionAttr));
  }
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    main.removeResultAttr(i, StringAttr::get(main.getContext(), kStateOfAttr));
}

unsigned inputNumber(func::FuncOp main, unsigned argument) {
  unsigned number = 0;
  for (unsigned i = 0; i < argument; ++i)
    number += !isStateArgument(main, i);
  return number;
}

unsigned outputNumber(func::FuncOp main, unsigned result) {
  unsigned number = 0;
  for (unsigned i = 0; i < result; ++i)
    number += !main.getResultAttr(i, kStateOfAttr);
  return number;
}

} // namespace pto_mlir::top
