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
  std::string text; // disassembly, if requested
  /// (first word of a command, index of its source); applies to the commands up to the next entry.
  std::vector<std::pair<uint32_t, uint32_t>> sources;
};

/// End of the part of a local memory used by a kernel, in bytes.
struct LocalMemoryUse {
  isa::Memory memory;
  uint32_t bytes;
};

/// The generated code of a kernel.
struct KernelStreams {
  std::string name;
  unsigned numArgs = 0; // pointer arguments
  unsigned numScalars = 0;
  std::vector<EngineStream> streams;
  std::vector<LocalMemoryUse> localMemory;
  unsigned numEvents = 0;           // distinct (src, dst, id)
  std::vector<std::string> sources; // "pto.tload at k.pto:12:3"
};

/// Optional parts of a kernel's streams.
struct CodegenOptions {
  bool text = false;    // EngineStream::text
  bool sources = false; // EngineStream::sources
};

/// Generates the streams of a kernel: a nested module made by pto-slice-engines (docs/lowering.md, section 6) with the
/// kernel's name. Each stream is verified. On failure a diagnostic has been emitted at the offending op.
mlir::FailureOr<KernelStreams> generateKernel(mlir::ModuleOp kernel, const Processor &processor,
                                              CodegenOptions options = {});

/// The nested modules of `module` with sliced kernels, in order.
llvm::SmallVector<mlir::ModuleOp> slicedKernels(mlir::ModuleOp module);

} // namespace pto_mlir::backend

#endif
