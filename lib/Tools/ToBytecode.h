// pto-opt --vm-to-bytecode: prints a program in the vm dialect as the assembler's text.
#ifndef PTO_MLIR_LIB_TOOLS_TOBYTECODE_H
#define PTO_MLIR_LIB_TOOLS_TOBYTECODE_H

namespace mlir {
class DialectRegistry;
}

namespace pto_mlir {

/// Whether the first argument is --vm-to-bytecode.
bool wantsBytecode(int argc, char **argv);

/// `pto-opt --vm-to-bytecode X.mlir|- [--target T] [--passes a,b] [--reuse-slots] [--locations]`; exit code 0, 1 (bad
/// module) or 2 (wrong usage).
int runToBytecode(int argc, char **argv, mlir::DialectRegistry &registry);

} // namespace pto_mlir

#endif
