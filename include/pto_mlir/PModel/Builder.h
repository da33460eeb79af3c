// Writes a .pmodel.
#ifndef PTO_MLIR_PMODEL_BUILDER_H
#define PTO_MLIR_PMODEL_BUILDER_H

#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pto_mlir::pmodel {

/// Offsets of the weights in the weights section. Programs refer to weights by these offsets, so lay the weights out
/// before writing the programs.
struct WeightLayout {
  std::vector<uint64_t> offsets; // one per weight, 64-byte aligned, 512 from 4096 bytes on; equal weights share one
  std::vector<uint64_t> hashes;  // XXH3-64 of each blob
  uint64_t totalBytes = 0;       // size of the section
};

/// Lays out `weights` in order; a blob equal to an earlier one (same hash, same bytes) shares its offset.
WeightLayout layoutWeights(const std::vector<WeightDesc> &weights);

/// Sizes of a written file, for reports.
struct WriteSummary {
  uint64_t fileBytes = 0;
  uint64_t metadataBytes = 0;
  uint64_t commandBytes = 0;
  uint64_t programBytes = 0;
  uint64_t weightBytes = 0;
  uint32_t numKernels = 0; // after equal kernels were merged
};

/// Verifies `model` (verifyModel) and writes it to `path` atomically: a failure leaves an existing file untouched.
/// Equal kernels are stored once (their sourceOps are joined and the programs' kernel indices updated). Weights are
/// streamed from their memory; `layout` must be layoutWeights(model.weights).
Result<WriteSummary> writeModel(const ModelDesc &model, const WeightLayout &layout, const std::string &path);

/// The same with the layout computed by layoutWeights, for models whose programs use no weights or that layout.
Result<WriteSummary> writeModel(const ModelDesc &model, const std::string &path);

} // namespace pto_mlir::pmodel

#endif
