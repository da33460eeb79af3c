//===- Codegen.h - Kernels to command streams -----------------------------===//

#ifndef PTO_MLIR_BACKEND_CODEGEN_H
#define PTO_MLIR_BACKEND_CODEGEN_H

#include "mlir/IR/BuiltinOps.h"
#include "pto_mlir/Backend/Backend.h"

#include <string>
#include <vector>

namespace pto_mlir::backend {

/// The commands of one engine.
struct EngineStream {
  isa::CoreKind core;
  isa::Pipe pipe;
  std::vector<uint32_t> words;
  uint32_t numCommands = 0;
  std::string text; // disassembly, when asked for
  /// First word of a command and the number of its source; it stands for the commands behind it up to the next entry.
  std::vector<std::pair<uint32_t, uint32_t>> sources;
};

/// Highest byte that a kernel uses of a local memory.
struct LocalMemoryUse {
  isa::Memory memory;
  uint32_t bytes;
};

struct KernelStreams {
  std::string name;
  unsigned numArgs = 0; // pointer arguments
  std::vector<EngineStream> streams;
  std::vector<LocalMemoryUse> localMemory;
  unsigned numEvents = 0;           // distinct (src, dst, id)
  std::vector<std::string> sources; // "pto.tload at k.pto:12:3"
};

/// What a kernel's streams carry beside their words.
struct CodegenOptions {
  bool text = false;    // EngineStream::text, for people
  bool sources = false; // which op each command is of
};

/// Generates the streams of a kernel: the nested module that pto-slice-engines makes (docs/lowering.md section 6),
/// whose name is the kernel's. Each stream is verified. Failure comes after a diagnostic at the op that caused it.
mlir::FailureOr<KernelStreams> generateKernel(mlir::ModuleOp kernel, const Processor &processor,
                                              CodegenOptions options = {});

/// The nested modules of `module` that hold sliced kernels, in order.
llvm::SmallVector<mlir::ModuleOp> slicedKernels(mlir::ModuleOp module);

} // namespace pto_mlir::backend

#endif
