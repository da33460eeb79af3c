#include "ModelFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <climits>

namespace pto_mlir::onnx {

namespace {

// Smaller raw data is left in the message, where protobuf copies it.
constexpr uint64_t kLargeRawData = 1024;

// Copies a serialized ModelProto without the large raw_data of the graph's initializers.
class Stripper {
public:
  explicit Stripper(std::vector<llvm::StringRef> &rawData) : rawData(rawData) {}

  // False when the bytes are not in protobuf's wire format.
  bool strip(llvm::StringRef in, std::string &out) { return message(in, Level::Model, out); }

private:
  enum class Level { Model, Graph, Tensor };

  static bool varint(llvm::StringRef &in, uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 70 && !in.empty(); shift += 7) {
      uint8_t byte = in.front();
      in = in.drop_front();
      value |= shift < 64 ? uint64_t(byte & 0x7f) << shift : 0;
      if (!(byte & 0x80))
        return true;
    }
    return false;
  }

  static void putVarint(uint64_t value, std::string &out) {
    for (; value >= 0x80; value >>= 7)
      out.push_back(static_cast<char>(value | 0x80));
    out.push_back(static_cast<char>(value));
  }

  static bool skip(llvm::StringRef &in, uint64_t bytes) {
    if (bytes > in.size())
      return false;
    in = in.drop_front(bytes);
    return true;
  }

  bool message(llvm::StringRef in, Level level, std::string &out) {
    while (!in.empty()) {
      const char *start = in.data();
      uint64_t key, length;
      if (!varint(in, key) || key >> 3 == 0)
        return false;
      uint64_t field = key >> 3;
      switch (key & 7) {
      case 0:
        if (!varint(in, length))
          return false;
        break;
      case 1:
        if (!skip(in, 8))
          return false;
        break;
      case 5:
        if (!skip(in, 4))
          return false;
        break;
      case 2: {
        if (!varint(in, length) || length > in.size())
          return false;
        llvm::StringRef payload = in.take_front(length);
        in = in.drop_front(length);
        if (level == Level::Tensor && field == 9 && length >= kLargeRawData) {
          rawData.back() = payload;
          continue;
        }
        bool graph = level == Level::Model && field == 7, tensor = level == Level::Graph && field == 5;
        if (!graph && !tensor)
          break;
        if (tensor)
          rawData.emplace_back();
        std::string inner;
        if (!message(payload, graph ? Level::Graph : Level::Tensor, inner))
          return false;
        putVarint(key, out);
        putVarint(inner.size(), out);
        out += inner;
        continue;
      }
      default: // groups are not used by ONNX
        return false;
      }
      out.append(start, in.data() - start);
    }
    return true;
  }

  std::vector<llvm::StringRef> &rawData;
};

} // namespace

std::optional<ModelFile> ModelFile::open(llvm::StringRef path, std::string &error) {
  google::protobuf::SetLogHandler(nullptr);
  ModelFile file;
  file.folder = llvm::sys::path::parent_path(path).str();
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) {
    error = "cannot open: " + buffer.getError().message();
    return std::nullopt;
  }
  llvm::StringRef bytes = (*buffer)->getBuffer();
  (*file.files)[""] = std::move(*buffer);
  if (bytes.empty()) {
    error = "is not an ONNX model: the file is empty";
    return std::nullopt;
  }
  std::string reduced;
  if (!Stripper(file.stripped).strip(bytes, reduced)) {
    error = "is not an ONNX model, or is truncated";
    return std::nullopt;
  }
  if (reduced.size() > INT_MAX) {
    error = "has more than 2 GiB outside of its weights";
    return std::nullopt;
  }
  if (!file.proto->ParseFromArray(reduced.data(), reduced.size())) {
    error = "is not an ONNX model, or is truncated";
    return std::nullopt;
  }
  return file;
}

llvm::StringRef ModelFile::rawData(int initializer) const {
  llvm::StringRef range = stripped[initializer];
  return range.empty() ? llvm::StringRef(proto->graph().initializer(initializer).raw_data()) : range;
}

std::optional<llvm::StringRef> ModelFile::external(llvm::StringRef location, uint64_t offset,
                                                   std::optional<uint64_t> length, std::string &error) {
  namespace path = llvm::sys::path;
  auto fail = [&](const llvm::Twine &reason) {
    error = ("external data '" + location + "': " + reason).str();
    return std::nullopt;
  };
  if (location.empty() || location.contains('\0') || path::is_absolute(location) ||
      std::any_of(path::begin(location), path::end(location), [](llvm::StringRef part) { return part == ".."; }))
    return fail("must be a path inside the model's folder");
  std::unique_ptr<llvm::MemoryBuffer> &buffer = (*files)[location];
  if (!buffer) {
    llvm::SmallString<256> full(folder), root, real;
    path::append(full, location);
    // A symbolic link must not point outside the folder either.
    if (llvm::sys::fs::real_path(folder.empty() ? "." : folder, root) || llvm::sys::fs::real_path(full, real))
      return fail("no such file in the model's folder");
    if (!llvm::StringRef(real).starts_with(root) ||
        (root != "/" && real.size() > root.size() && real[root.size()] != '/'))
      return fail("must be a path inside the model's folder");
    auto opened = llvm::MemoryBuffer::getFile(real, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!opened)
      return fail("cannot open: " + opened.getError().message());
    buffer = std::move(*opened);
  }
  llvm::StringRef bytes = buffer->getBuffer();
  if (offset > bytes.size() || (length && *length > bytes.size() - offset))
    return fail("range lies outside the file");
  return bytes.substr(offset, length ? *length : llvm::StringRef::npos);
}

} // namespace pto_mlir::onnx
