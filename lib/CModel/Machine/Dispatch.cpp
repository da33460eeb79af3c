// Opcode -> handler: resolves the register operands of an instruction, then calls its semantic function.
#include "Insns/Insns.h"
#include "Machine/Program.h"

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
