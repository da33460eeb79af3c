// The assembler, the disassembler, and the listing of a ByteCodeModule.
#ifndef PTO_MLIR_BYTECODE_TEXT_H
#define PTO_MLIR_BYTECODE_TEXT_H

#include "pto_mlir/ByteCode/Module.h"
#include "pto_mlir/Support/Result.h"

#include <string>
#include <string_view>

namespace pto_mlir::bytecode {

/// Assembles the text form (docs/vm.md). Failures begin with "line N: ". The module still has to be verified
/// (Program::load).
Result<Module> assemble(std::string_view text);

/// Writes the text form. assemble(disassemble(m)) == m for every module whose code decodes; code that does not is
/// written as a comment.
std::string disassemble(const Module &module);

/// One instruction as disassemble writes it, without labels; for traces.
std::string instructionText(const Module &module, const Instruction &instruction);

/// `ByteCodeModule(consts=[..], code=[<OpCode.iconst_3: 5>, ..], target='python', variable_size=3)`.
std::string listing(const Module &module);

/// A constant as listings show it: a number, 'text', a mangled kernel name, a tensor's type.
std::string constantText(const Module &module, const Constant &constant);

/// "@device.add (i32, i32) -> (i32) {axis = 1}".
std::string keyText(const KernelKey &key);

} // namespace pto_mlir::bytecode

#endif
