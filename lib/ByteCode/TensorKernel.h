// @host.<op> on tensors: the operations of HostOps as kernels of programs.
#ifndef PTO_MLIR_LIB_BYTECODE_TENSORKERNEL_H
#define PTO_MLIR_LIB_BYTECODE_TENSORKERNEL_H

#include "pto_mlir/ByteCode/Machine.h"

namespace pto_mlir::bytecode {

/// The kernel of a key whose operands and only result are tensors; null when HostOps has none for these types.
/// `strings`: the table of its string operands and results; `entropy`: what random numbers without a seed follow from.
std::shared_ptr<Kernel> makeTensorKernel(const KernelKey &key, std::shared_ptr<hostops::StringTable> strings,
                                         uint64_t entropy);

} // namespace pto_mlir::bytecode

#endif // PTO_MLIR_LIB_BYTECODE_TENSORKERNEL_H
