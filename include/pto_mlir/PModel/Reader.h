// Opens a .pmodel as a checked view.
#ifndef PTO_MLIR_PMODEL_READER_H
#define PTO_MLIR_PMODEL_READER_H

#include "pto_mlir/PModel/Builder.h"
#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <memory>
#include <string>

namespace pto_mlir::pmodel {

/// Facts about the file itself.
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

/// A mapped .pmodel. Everything but the weights' bytes has been checked (hashes, ranges, indices, programs, commands),
/// so users of `model()` need not check again. The weights in `model()` point into the mapping.
class ModelFile {
public:
  /// Maps and checks the file. Failures begin with the path.
  static Result<std::shared_ptr<const ModelFile>> open(const std::string &path);
  ~ModelFile();
  ModelFile(const ModelFile &) = delete;
  ModelFile &operator=(const ModelFile &) = delete;

  const ModelDesc &model() const { return desc; }
  /// Where the weights lie in the weights section.
  const WeightLayout &layout() const { return weightLayout; }
  const FileInfo &info() const { return fileInfo; }

  /// Compares the hash of weight `index` with the metadata's.
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
