// Writes a .pmodel.
#ifndef PTO_MLIR_PMODEL_BUILDER_H
#define PTO_MLIR_PMODEL_BUILDER_H

#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pto_mlir::pmodel {

/// Where each weight lies in the weights section. Programs name weights by these offsets, so lay the weights
/// out first, then write the programs.
struct WeightLayout {
  std::vector<uint64_t> offsets; // one per weight, 64-byte aligned; equal weights share one
  std::vector<uint64_t> hashes;  // XXH3-64 of each blob
  uint64_t totalBytes = 0;       // size of the section
};

/// Places `weights` in order; a blob whose bytes were seen before (same hash, same bytes) gets the earlier offset.
WeightLayout layoutWeights(const std::vector<WeightDesc> &weights);

/// What writeModel stored, for reports.
struct WriteSummary {
  uint64_t fileBytes = 0;
  uint64_t metadataBytes = 0;
  uint64_t commandBytes = 0;
  uint64_t programBytes = 0;
  uint64_t weightBytes = 0;
  uint32_t numKernels = 0; // after equal kernels were merged
};

/// Checks `model` (verifyModel) and writes it to `path`: first under a temporary name beside it, then renamed, so
/// that a failure leaves no file and an older file untouched. Equal kernels are stored once (their sourceOps are joined
/// and the programs' kernel lists follow). Weights stream from where they lie; `layout` must come from
/// layoutWeights(model.weights).
Result<WriteSummary> writeModel(const ModelDesc &model, const WeightLayout &layout, const std::string &path);

/// The same with the layout computed here, for models whose programs use no weights or already agree with it.
Result<WriteSummary> writeModel(const ModelDesc &model, const std::string &path);

} // namespace pto_mlir::pmodel

#endif
