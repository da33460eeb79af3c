// Kernels of users as the bodies of operators of a model (`top.kernel`).
#ifndef PTO_MLIR_COMPILER_KERNELBODIES_H
#define PTO_MLIR_COMPILER_KERNELBODIES_H

#include "pto_mlir/Compiler/Compiler.h"

namespace pto_mlir {

/// A `.pto` function that says which operator it computes: `pto.op = "DOMAIN::OPERATOR"`, and by `pto.op_types`, a
/// function type of tensors, for which types; its arguments are the operands, then the results.
struct TextKernel {
  std::string name; ///< of the operator
  std::vector<KernelTensor> inputs;
  UserKernel kernel;
};

/// All such functions of a file, for the processor that its text names, else for every chip that takes it. Nullopt on
/// failure, with `errors`; also when there is none.
std::optional<std::vector<TextKernel>> readTextKernels(const std::string &file, Errors &errors);

/// A PyPTO program (bytes of pypto::ir::serialize, which are not trusted) for a processor as the kernel of an operator:
/// its entry's inputs and outputs by name, in the order of the operator's; `results` is left empty. Nullopt on failure,
/// with one line in `errors`, which begins with the place in the source where it has one: for a program that writes its
/// inputs, or does what a kernel cannot do at run time.
std::optional<UserKernel> kernelOfProgram(const std::string &program, const std::string &processor,
                                          const std::vector<std::string> &inputs,
                                          const std::vector<std::string> &outputs, Errors &errors);

} // namespace pto_mlir

#endif // PTO_MLIR_COMPILER_KERNELBODIES_H
