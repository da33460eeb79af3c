#include "ModelFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <climits>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

namespace pto_mlir::onnx {

namespace {

// Smaller raw data is left in the message, where protobuf copies it.
constexpr uint64_t kLargeRawData = 1024;

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using Wire = google::protobuf::internal::WireFormatLite;

// One field of a serialized message.
struct Field {
  uint32_t tag;
  llvm::StringRef bytes;                  // tag included
  std::optional<llvm::StringRef> payload; // of a string or a message

  bool isPayload(int number) const { return payload && Wire::GetTagFieldNumber(tag) == number; }
};

// Takes the first field off a message; false when the bytes are no wire format.
bool takeField(llvm::StringRef &in, Field &field) {
  // The stream counts in ints: of a larger message it sees the beginning, and a payload is measured by its length.
  CodedInputStream stream(reinterpret_cast<const uint8_t *>(in.data()), int(std::min<size_t>(in.size(), INT_MAX)));
  field.tag = stream.ReadTag();
  if (Wire::GetTagFieldNumber(field.tag) == 0)
    return false;
  uint64_t length = 0;
  bool isPayload = Wire::GetTagWireType(field.tag) == Wire::WIRETYPE_LENGTH_DELIMITED;
  if (!(isPayload ? stream.ReadVarint64(&length) : Wire::SkipField(&stream, field.tag)))
    return false;
  size_t begin = stream.CurrentPosition();
  if (length > in.size() - begin)
    return false;
  field.bytes = in.take_front(begin + length);
  field.payload.reset();
  if (isPayload)
    field.payload = field.bytes.drop_front(begin);
  in = in.drop_front(field.bytes.size());
  return true;
}

void putPayload(uint32_t tag, llvm::StringRef payload, std::string &out) {
  uint8_t buffer[16], *end = CodedOutputStream::WriteTagToArray(tag, buffer);
  end = CodedOutputStream::WriteVarint64ToArray(payload.size(), end);
  out.append(buffer, end);
  out += payload;
}

// Copies a serialized ModelProto without the large raw_data of the graph's initializers. False when the bytes are no
// wire format.
class Stripper {
public:
  explicit Stripper(std::vector<llvm::StringRef> &rawData) : rawData(rawData) {}

  bool model(llvm::StringRef in, std::string &out) {
    return copy(in, out, ::onnx::ModelProto::kGraphFieldNumber, &Stripper::graph);
  }

private:
  using Part = bool (Stripper::*)(llvm::StringRef in, std::string &out);

  // Copies the fields of a message; those of number `inner` go through `part`.
  bool copy(llvm::StringRef in, std::string &out, int inner, Part part) {
    for (Field field; !in.empty();) {
      if (!takeField(in, field))
        return false;
      if (!field.isPayload(inner)) {
        out += field.bytes;
        continue;
      }
      std::string copied;
      if (!(this->*part)(*field.payload, copied))
        return false;
      putPayload(field.tag, copied, out);
    }
    return true;
  }

  bool graph(llvm::StringRef in, std::string &out) {
    return copy(in, out, ::onnx::GraphProto::kInitializerFieldNumber, &Stripper::tensor);
  }

  bool tensor(llvm::StringRef in, std::string &out) {
    llvm::StringRef &raw = rawData.emplace_back();
    for (Field field; !in.empty();) {
      if (!takeField(in, field))
        return false;
      if (field.isPayload(::onnx::TensorProto::kRawDataFieldNumber) && field.payload->size() >= kLargeRawData)
        raw = *field.payload;
      else
        out += field.bytes;
    }
    return true;
  }

  std::vector<llvm::StringRef> &rawData;
};

} // namespace

std::optional<ModelFile> ModelFile::open(llvm::StringRef path, std::string &error, std::shared_ptr<MappedFiles> files) {
  google::protobuf::SetLogHandler(nullptr);
  ModelFile file;
  file.folder = llvm::sys::path::parent_path(path).str();
  if (files)
    file.files = std::move(files);
  std::unique_ptr<llvm::MemoryBuffer> &buffer = (*file.files)[""];
  if (!buffer) {
    auto opened = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!opened) {
      error = "cannot open: " + opened.getError().message();
      return std::nullopt;
    }
    buffer = std::move(*opened);
  }
  llvm::StringRef bytes = buffer->getBuffer();
  if (bytes.empty()) {
    error = "is not an ONNX model: the file is empty";
    return std::nullopt;
  }
  std::string reduced;
  if (!Stripper(file.stripped).model(bytes, reduced)) {
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
    if (!llvm::sys::fs::is_regular_file(real)) // a pipe would be waited for
      return fail("is no regular file");
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
