// Opens a .pmodel as a verified view.
#ifndef PTO_MLIR_PMODEL_READER_H
#define PTO_MLIR_PMODEL_READER_H

#include "pto_mlir/PModel/Builder.h"
#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <memory>
#include <string>

namespace pto_mlir::pmodel {

/// Format version and sizes of a file.
struct FileInfo {
  std::string path;
  uint32_t formatMajor = 0;
  uint32_t formatMinor = 0;
  uint64_t fileBytes = 0;
  uint64_t metadataBytes = 0;
  uint64_t commandBytes = 0;
  uint64_t programBytes = 0;
  uint64_t weightBytes = 0;
};

/// A memory-mapped .pmodel. All but the weights' contents is verified when it is opened (hashes, ranges, indices,
/// programs, commands), so users of `model()` need no further checks. Weights in `model()` point into the mapping.
class ModelFile {
public:
  /// Maps and verifies the file. Failures begin with the path.
  static Result<std::shared_ptr<const ModelFile>> open(const std::string &path);
  ~ModelFile();
  ModelFile(const ModelFile &) = delete;
  ModelFile &operator=(const ModelFile &) = delete;

  const ModelDesc &model() const { return desc; }
  /// Offsets and hashes of the weights.
  const WeightLayout &layout() const { return weightLayout; }
  const FileInfo &info() const { return fileInfo; }

  /// Checks the contents of weight `index` against its hash in the metadata.
  Status checkWeight(size_t index) const;
  /// checkWeight for all.
  Status checkAllWeights() const;

  /// The metadata as JSON, by the schema's reflection.
  std::string metadataJson() const;

private:
  ModelFile() = default;
  Status load(const std::string &path);
  Status checkContainer();
  Status readMetadata();

  const uint8_t *data = nullptr; // the mapping
  uint64_t size = 0;
  ModelDesc desc;
  WeightLayout weightLayout;
  FileInfo fileInfo;
};

} // namespace pto_mlir::pmodel

#endif
