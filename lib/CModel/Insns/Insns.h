// Semantic functions: execute(insn, core), one per row of the instruction table, defined in Insns/<mnemonic>.cpp; those
// of ScalarBinary (Scalar.td) are in Machine/Dispatch.cpp. Register operands are resolved before the call. A missing
// definition is a link error.
#ifndef PTO_MLIR_CMODEL_INSNS_H
#define PTO_MLIR_CMODEL_INSNS_H

#include "Machine/Core.h"
#include "pto_mlir/ISA/Insns.h"

namespace pto_mlir::cmodel {

#define PTO_DECLARE(Struct, mnemonic, opcode, pipe) void execute(const isa::Struct &insn, Core &core);
ISA_INSNS(PTO_DECLARE)
#undef PTO_DECLARE

} // namespace pto_mlir::cmodel

#endif
