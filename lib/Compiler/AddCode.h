//===- AddCode.h - add generated code to the kernels of a file ----------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_COMPILER_ADDCODE_H
#define PTO_MLIR_LIB_COMPILER_ADDCODE_H

#include "pto_mlir/Backend/Backend.h"
#include "pto_mlir/Backend/Codegen.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/ISA/Table.h"
#include "pto_mlir/PModel/Model.h"

#include <map>

namespace pto_mlir {

/// Adds streams, sources, memory and events of `code` to `kernel`, which may already have those of the other kind of
/// core.
inline void addCode(pmodel::KernelDesc &kernel, backend::KernelStreams &code) {
  auto firstSource = uint32_t(kernel.sources.size());
  for (backend::EngineStream &stream : code.streams) {
    for (auto &[word, source] : stream.sources)
      source += firstSource;
    kernel.streams.push_back({pmodel::CoreKind(uint8_t(stream.core)), uint8_t(stream.pipe), std::move(stream.words),
                              stream.numCommands, std::move(stream.sources)});
  }
  kernel.sources.insert(kernel.sources.end(), code.sources.begin(), code.sources.end());
  kernel.numEvents += code.numEvents;
  for (const backend::LocalMemoryUse &use : code.localMemory)
    kernel.localMemory.push_back({isa::kMemoryNames[unsigned(use.memory)], use.bytes});
}

/// Generates all kernels; parts for both kinds of core are merged under the name in `pto.part_of`. Nullopt after an
/// error.
inline std::optional<std::vector<pmodel::KernelDesc>> generateKernels(mlir::ModuleOp module,
                                                                      const backend::Processor &processor,
                                                                      unsigned blocks,
                                                                      backend::CodegenOptions options) {
  std::vector<pmodel::KernelDesc> kernels;
  std::map<std::string, size_t> places;
  for (mlir::ModuleOp part : backend::slicedKernels(module)) {
    auto code = backend::generateKernel(part, processor, options);
    if (failed(code))
      return std::nullopt;
    if (code->numArgs > pmodel::kMostArguments) {
      part.emitError("reads and stores ") << code->numArgs << " tensors, " << pmodel::kMostArguments << " are the most";
      return std::nullopt;
    }
    auto partOf = part->getAttrOfType<mlir::StringAttr>(pto::kPartOfAttr);
    std::string name = partOf ? partOf.str() : code->name;
    auto [place, isNew] = places.insert({name, kernels.size()});
    if (isNew) {
      kernels.emplace_back();
      kernels.back().name = name;
      kernels.back().numArgs = code->numArgs;
      kernels.back().numScalars = code->numScalars;
      kernels.back().blocks = blocks;
    }
    addCode(kernels[place->second], *code);
  }
  return kernels;
}

} // namespace pto_mlir

#endif
