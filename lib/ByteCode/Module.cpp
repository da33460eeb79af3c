#include "pto_mlir/ByteCode/Module.h"

#include <algorithm>

namespace pto_mlir::bytecode {

uint32_t Module::addType(const Type &type) {
  auto it = std::find(types.begin(), types.end(), type);
  if (it == types.end())
    it = types.insert(it, type);
  return it - types.begin();
}

uint32_t Module::addConstant(const Constant &constant) {
  auto it = std::find(constants.begin(), constants.end(), constant);
  if (it == constants.end())
    it = constants.insert(it, constant);
  return it - constants.begin();
}

const Function *Module::findFunction(std::string_view name) const {
  auto it =
      std::find_if(functions.begin(), functions.end(), [&](const Function &function) { return function.name == name; });
  return it == functions.end() ? nullptr : &*it;
}

uint64_t Module::byteSize() const { return uint64_t(variableSize()) * 8; }

uint32_t Module::usedCapabilities() const {
  uint32_t used = functions.size() > 1 ? uint32_t(kControlFlow) : 0;
  for (const Type &type : types)
    used |= (type.isTask ? kTasks : 0) | (type.isTensor ? kTensors : 0) | (type.isStatic() ? 0 : kDynamicShapes);
  for (const Constant &constant : constants)
    if (auto *key = std::get_if<KernelKey>(&constant); key && isRanked(*key))
      used |= kRanks;
  for (const Function &function : functions) {
    auto code = decodeAll(function.code);
    if (!code)
      continue;
    for (const Instruction &insn : *code) {
      switch (insn.opcode) {
      case Opcode::Launch:
      case Opcode::WaitQueue:
      case Opcode::Barrier:
        used |= kAsynchronous;
        break;
      case Opcode::View:
      case Opcode::Reserve:
      case Opcode::Submit:
      case Opcode::Join:
        used |= kTasks;
        break;
      case Opcode::Goto:
      case Opcode::IfEq:
      case Opcode::IfNe:
      case Opcode::Call:
        used |= kControlFlow;
        break;
      default:
        break;
      }
    }
  }
  return used;
}

} // namespace pto_mlir::bytecode
