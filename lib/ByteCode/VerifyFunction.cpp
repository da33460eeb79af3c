// Traversal of a function: every reachable instruction once per state, joins at branch targets.
#include "FunctionVerifier.h"

#include <algorithm>

namespace pto_mlir::bytecode {

namespace {

constexpr size_t kMaxDepth = 4096, kMaxStates = 1 << 22;

} // namespace

Result<LoadedFunction> FunctionVerifier::run() {
  auto decoded = decodeAll(function.code);
  if (!decoded)
    return decoded.failure();
  code = decoded.take();
  for (size_t i = 0; i < function.debug.size(); ++i)
    if (function.debug[i].instruction >= code.size() ||
        (i && function.debug[i - 1].instruction > function.debug[i].instruction))
      return Failure{"debug entry " + std::to_string(i) +
                     " belongs to no instruction, or stands before an earlier one"};
  for (uint32_t type : function.slots)
    loaded.slots.push_back(module.types[type].kind());
  // Instructions not reached by any path become Unreachable.
  loaded.steps.assign(code.size() + 1, Step{Opcode::Unreachable});
  before.resize(code.size() + 1);
  isTarget.assign(code.size() + 1, false);
  isTarget[code.size()] = true;
  for (const Instruction &insn : code)
    if (opcodeRow(insn.opcode).has(OperandKind::Target) && insn.index < code.size())
      isTarget[insn.index] = true;
  State start;
  start.written.assign(function.slots.size(), false);
  std::fill_n(start.written.begin(), function.parameters.size(), true);
  if (!flow(0, start))
    return Failure{failure};
  while (!pending.empty()) {
    at = pending.back();
    pending.pop_back();
    if (!visit(at))
      return Failure{failure};
  }
  return std::move(loaded);
}

bool FunctionVerifier::flow(uint32_t target, const State &from) {
  if (target > code.size())
    return fail("branches to instruction " + std::to_string(target) + ", the function has " +
                std::to_string(code.size()));
  if (target == code.size() && (!function.results.empty() || !from.stack.empty()))
    return fail("the function ends without return");
  std::optional<State> &known = before[target];
  if (!known) {
    budget += 1 + from.stack.size() + from.written.size() / 64;
    if (budget > kMaxStates)
      return fail("the function is too large");
    known = from;
    pending.push_back(target);
    return true;
  }
  if (known->stack != from.stack)
    return fail("instruction " + std::to_string(target) + " is reached with different stacks");
  bool changed = false;
  for (size_t i = 0; i < known->written.size(); ++i)
    if (known->written[i] && !from.written[i]) {
      known->written[i] = false;
      changed = true;
    }
  if (changed)
    pending.push_back(target);
  return true;
}

void FunctionVerifier::noteDepth() {
  uint32_t numbers = 0, tensors = 0;
  for (const Type &type : state.stack)
    ++(type.isTensor ? tensors : numbers);
  loaded.numberDepth = std::max(loaded.numberDepth, numbers);
  loaded.tensorDepth = std::max(loaded.tensorDepth, tensors);
}

bool FunctionVerifier::visit(uint32_t index) {
  state = *before[index];
  while (true) {
    at = index;
    Step &step = loaded.steps[index];
    step = Step();
    if (index == code.size()) {
      step.opcode = Opcode::Return;
      return true;
    }
    step.opcode = code[index].opcode;
    Opcode opcode = code[index].opcode;
    if (!apply(code[index], step))
      return false;
    if (state.stack.size() > kMaxDepth)
      return fail("the stack is deeper than " + std::to_string(kMaxDepth));
    noteDepth();
    if (!fallsThrough(opcode))
      return true;
    ++index;
    if (isTarget[index])
      return flow(index, state);
  }
}

bool FunctionVerifier::apply(const Instruction &insn, Step &step) {
  if (auto slot = slotAccess(insn))
    return access(*slot, step);
  for (auto group :
       {&FunctionVerifier::constants, &FunctionVerifier::stack, &FunctionVerifier::arithmetic,
        &FunctionVerifier::control, &FunctionVerifier::calls, &FunctionVerifier::tensors, &FunctionVerifier::elements})
    if (std::optional<bool> good = (this->*group)(insn, step))
      return *good;
  return fail("is an instruction of a net's program");
}

Result<LoadedFunction> verifyFunction(const Module &module, const Function &function, uint32_t &at) {
  return FunctionVerifier(module, function, at).run();
}

} // namespace pto_mlir::bytecode
