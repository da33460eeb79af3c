// Abstract interpretation of one function: types on the stack, initialised slots.
#ifndef PTO_MLIR_LIB_BYTECODE_FUNCTIONVERIFIER_H
#define PTO_MLIR_LIB_BYTECODE_FUNCTIONVERIFIER_H

#include "VerifyFunction.h"

#include <optional>

namespace pto_mlir::bytecode {

/// Verifies a function and decodes it on the way. VerifyFunction.cpp has the traversal; the groups of instructions have
/// files of their own.
class FunctionVerifier {
public:
  FunctionVerifier(const Module &module, const Function &function, uint32_t &at)
      : module(module), function(function), at(at) {}

  Result<LoadedFunction> run();

private:
  static inline const Type i1 = Type::scalar(ElementType::Boolean), i32 = Type::scalar(ElementType::I32),
                           i64 = Type::scalar(ElementType::I64);

  /// The abstract state before an instruction.
  struct State {
    std::vector<Type> stack;
    std::vector<bool> written; // slots
  };

  bool fail(const std::string &message) {
    failure = message;
    return false;
  }

  /// Propagates the state to instruction `target`: joins it with the state there.
  bool flow(uint32_t target, const State &from);
  bool pop(Type &type);
  bool popExactly(const Type &expected);
  bool popKind(Kind kind, Type &type);
  /// Pops several values, the last one on top.
  bool popAll(const std::vector<Type> &types);
  bool popIndices(size_t count);
  void push(Type type) { state.stack.push_back(std::move(type)); }
  std::vector<Type> typesOf(const std::vector<uint32_t> &indices) const;

  void noteDepth();

  /// Interprets the instructions from `index`, whose state is known, up to the next join point.
  bool visit(uint32_t index);
  bool constant(Step &step, const Type &type, int64_t value);
  bool access(const SlotAccess &slot, Step &step);
  bool integerBinary(Step &step);
  bool floatBinary(Step &step);
  bool compare(const Instruction &insn, Step &step, int64_t predicates);
  const Type *typeOperand(const Instruction &insn);
  bool loadConstant(const Instruction &insn, Step &step);
  bool invoke(const Instruction &insn, Step &step);
  bool submit(const Instruction &insn, Step &step);
  /// Pops as many tasks as the instruction says.
  bool popTasks(const Instruction &insn, Step &step);
  bool tensorType(const Instruction &insn, Step &step, const Type *&type);
  bool element(Type &tensor, Step &step);

  /// One instruction's effect on the state. The groups give nullopt for an opcode that is not theirs.
  bool apply(const Instruction &insn, Step &step);

  /// Whether the next instruction is a successor.
  static bool fallsThrough(Opcode opcode) {
    return opcode != Opcode::Goto && opcode != Opcode::Unreachable && opcode != Opcode::Return;
  }

  std::optional<bool> constants(const Instruction &insn, Step &step);
  std::optional<bool> stack(const Instruction &insn, Step &step);

  /// A comparison: operands as of the arithmetic, the result i1.
  bool comparison(const Instruction &insn, Step &step, int64_t predicates, bool (FunctionVerifier::*operands)(Step &));
  bool conversion(const Instruction &insn, Step &step);
  std::optional<bool> arithmetic(const Instruction &insn, Step &step);
  std::optional<bool> control(const Instruction &insn, Step &step);
  std::optional<bool> calls(const Instruction &insn, Step &step);

  /// Instructions on whole tensors.
  std::optional<bool> tensors(const Instruction &insn, Step &step);

  /// Instructions on a tensor's extents and elements.
  std::optional<bool> elements(const Instruction &insn, Step &step);

  /// Finds the topmost tensor on the stack, below `above` other values and its indices.
  bool tensorBelowIndices(size_t above, Type &tensor);

  const Module &module;
  const Function &function;
  uint32_t &at;
  std::vector<Instruction> code;
  std::vector<std::optional<State>> before;
  std::vector<bool> isTarget; // branch targets, and the end
  std::vector<uint32_t> pending;
  size_t budget = 0; // bounds the memory of the stored states for untrusted functions
  State state;
  LoadedFunction loaded;
  std::string failure;
};

} // namespace pto_mlir::bytecode

#endif
