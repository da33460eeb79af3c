// ModelDesc -> FlatBuffers metadata.
#ifndef PTO_MLIR_LIB_PMODEL_METADATA_H
#define PTO_MLIR_LIB_PMODEL_METADATA_H

#include "MergeKernels.h"
#include "pto_mlir/PModel/Builder.h"

#include <flatbuffers/flatbuffers.h>

namespace pto_mlir::pmodel {

/// Begin and size of the sections, as file offsets.
struct SectionPlan {
  uint64_t commandsBegin = 0, commandsSize = 0;
  uint64_t programsBegin = 0, programsSize = 0;
  uint64_t weightsBegin = 0, weightsSize = 0;
  uint64_t commandsHash = 0, programsHash = 0;
};

/// The lowest minor version of a reader that can read the model.
uint32_t minReaderMinor(const ModelDesc &model);
/// The minor version that a file of the model is marked with.
uint32_t writtenMinor(const ModelDesc &model);

/// The finished metadata buffer. Its size is independent of the values in `sections`.
flatbuffers::DetachedBuffer writeMetadata(const ModelDesc &model, const KernelMerge &merge, const WeightLayout &layout,
                                          const SectionPlan &sections);

} // namespace pto_mlir::pmodel

#endif
