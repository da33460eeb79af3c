// An .onnx file, mapped; the bytes of large initializers stay in the file.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_MODELFILE_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_MODELFILE_H

#include "onnx-ml.pb.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <optional>

namespace pto_mlir::onnx {

/// protobuf parses at most 2 GiB and copies every byte. So the wire format is walked by hand first: raw_data of the
/// graph's initializers that is large is left out of what protobuf sees and remembered as a range of the mapped file.
class ModelFile {
public:
  /// Nullopt on error, `error` then says why, without the path.
  static std::optional<ModelFile> open(llvm::StringRef path, std::string &error);

  const ::onnx::ModelProto &model() const { return *proto; }

  /// The raw bytes of the i-th initializer of the graph: from the file or from the message.
  llvm::StringRef rawData(int initializer) const;

  /// Bytes [offset, offset + length) of a file of external data, length to the end of the file when absent. `location`
  /// must stay inside the model's folder.
  std::optional<llvm::StringRef> external(llvm::StringRef location, uint64_t offset, std::optional<uint64_t> length,
                                          std::string &error);

  /// Whether rawData(i) lies in the mapped file, which owner() keeps alive; else it dies with this object.
  bool isMapped(int initializer) const { return !stripped[initializer].empty(); }
  std::shared_ptr<const void> owner() const { return files; }

private:
  using Files = llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>>;

  std::string folder;
  std::shared_ptr<Files> files = std::make_shared<Files>();
  std::unique_ptr<::onnx::ModelProto> proto = std::make_unique<::onnx::ModelProto>();
  std::vector<llvm::StringRef> stripped;
};

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_MODELFILE_H
