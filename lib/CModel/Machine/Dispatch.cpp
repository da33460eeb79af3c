// Opcode -> handler: resolves the register operands of an instruction, then calls its semantic function.
#include "Insns/Insns.h"
#include "Machine/Program.h"
#include "pto_mlir/ISA/Scalar.h"

namespace pto_mlir::cmodel {
namespace {

template <class Insn> void handle(const isa::DecodedInsn &decoded, Core &core) {
  const Insn &insn = decoded.as<Insn>();
  if (decoded.registerMask == 0)
    return execute(insn, core);
  Insn resolved = insn;
  const int64_t *registers = core.engine().registers;
  isa::resolve(resolved, [&](unsigned number) { return registers[number]; });
  execute(resolved, core);
}

/// The rows of ScalarBinary (Scalar.td): those that evaluateScalar knows.
template <class Insn>
concept ScalarBinary = isa::evaluateScalar(isa::OpcodeOf<Insn>::value, 1, 1).has_value();

/// Their semantics. Kernels execute many of them (addresses): operands are read in place, as a copy of the instruction
/// costs more than the sum.
template <ScalarBinary Insn> void handle(const isa::DecodedInsn &decoded, Core &core) {
  const Insn &insn = decoded.as<Insn>();
  int64_t *registers = core.engine().registers;
  auto number = [&](const isa::Value &value) { return value.isRegister ? registers[value.value] : value.value; };
  std::optional<int64_t> result = isa::evaluateScalar(isa::OpcodeOf<Insn>::value, number(insn.lhs), number(insn.rhs));
  if (!result)
    return core.fault(FaultKind::ZeroDivisor,
                      std::string(isa::OpcodeOf<Insn>::value == isa::Opcode::Rem ? "remainder" : "division") + " of " +
                          std::to_string(number(insn.lhs)) + " by 0");
  registers[insn.dst] = *result;
}

} // namespace

Handler handlerOf(isa::Opcode opcode) {
  switch (opcode) {
#define PTO_CASE(Struct, mnemonic, code, pipe)                                                                         \
  case isa::Opcode::Struct:                                                                                            \
    return handle<isa::Struct>;
    ISA_INSNS(PTO_CASE)
#undef PTO_CASE
  }
  return nullptr;
}

} // namespace pto_mlir::cmodel
