//===- AddCode.h - generated code into a kernel of the file -------------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_PIPELINES_ADDCODE_H
#define PTO_MLIR_LIB_PIPELINES_ADDCODE_H

#include "pto_mlir/Backend/Codegen.h"
#include "pto_mlir/ISA/Table.h"
#include "pto_mlir/PModel/Model.h"

namespace pto_mlir {

/// Adds streams, sources, memory and events of `code` to `kernel`, which may hold those of the other kind of core.
inline void addCode(pmodel::KernelDesc &kernel, backend::KernelStreams &code) {
  auto firstSource = uint32_t(kernel.sources.size());
  for (backend::EngineStream &stream : code.streams) {
    for (auto &[word, source] : stream.sources)
      source += firstSource;
    kernel.streams.push_back({pmodel::CoreKind(uint8_t(stream.core)), uint8_t(stream.pipe), std::move(stream.words), stream.numCommands,
                              std::move(stream.sources)});
  }
  kernel.sources.insert(kernel.sources.end(), code.sources.begin(), code.sources.end());
  kernel.numEvents += code.numEvents;
  for (const backend::LocalMemoryUse &use : code.localMemory)
    kernel.localMemory.push_back({isa::kMemoryNames[unsigned(use.memory)], use.bytes});
}

} // namespace pto_mlir

#endif
