// A memory-mapped .onnx file; large initializers are not copied.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_MODELFILE_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_MODELFILE_H

#include "onnx-ml.pb.h"
#include "pto_mlir/Frontend/ONNX/Import.h"
#include <memory>
#include <optional>

namespace pto_mlir::onnx {

/// protobuf parses at most 2 GiB and copies all data. So the wire format is scanned first: large raw_data of graph
/// initializers is stripped from the message passed to protobuf and recorded as a range of the mapped file.
class ModelFile {
public:
  /// Nullopt on error, with the reason (without the path) in `error`. `files`: those of an earlier open() of this
  /// path, which are not mapped again.
  static std::optional<ModelFile> open(llvm::StringRef path, std::string &error,
                                       std::shared_ptr<MappedFiles> files = nullptr);

  const ::onnx::ModelProto &model() const { return *proto; }

  /// The raw data of the i-th initializer of the graph, from the mapped file or the message.
  llvm::StringRef rawData(int initializer) const;

  /// Bytes [offset, offset + length) of an external data file; to its end without `length`. `location` must be inside
  /// the model's folder.
  std::optional<llvm::StringRef> external(llvm::StringRef location, uint64_t offset, std::optional<uint64_t> length,
                                          std::string &error);

  /// Whether rawData(i) is in the mapped file, which owner() keeps alive; otherwise it is valid for the lifetime of
  /// this object.
  bool isMapped(int initializer) const { return !stripped[initializer].empty(); }
  std::shared_ptr<const void> owner() const { return files; }

private:
  std::string folder;
  std::shared_ptr<MappedFiles> files = std::make_shared<MappedFiles>();
  std::unique_ptr<::onnx::ModelProto> proto = std::make_unique<::onnx::ModelProto>();
  std::vector<llvm::StringRef> stripped;
};

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_MODELFILE_H
