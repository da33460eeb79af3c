#include "pto_mlir/PModel/Reader.h"

#include "Layout.h"
#include "ReadMetadata.h"
#include "pto_mlir/PModel/Verifier.h"

#include <flatbuffers/minireflect.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pto_mlir::pmodel {

namespace {

FileHeader headerOf(const uint8_t *data) {
  FileHeader header;
  std::memcpy(&header, data, sizeof(header));
  return header;
}

const fb::Model *metadataOf(const uint8_t *data) { return fb::GetModel(data + headerOf(data).metadataBegin); }

/// A section referenced by the model table. It must begin at or after `end`, the end of the previous section.
Result<Section> section(const uint8_t *data, uint64_t fileSize, const fb::Range *range, uint64_t &end,
                        const char *name) {
  Section file{data, fileSize};
  if (!file.holds(range) || range->begin() % sectionAlignment != 0 || range->begin() < end)
    return Failure{std::string("the section of the ") + name + " lies outside the file"};
  end = range->begin() + range->size();
  return Section{data + range->begin(), range->size()};
}

} // namespace

ModelFile::~ModelFile() {
  if (data)
    ::munmap(const_cast<uint8_t *>(data), size);
}

Result<std::shared_ptr<const ModelFile>> ModelFile::open(const std::string &path) {
  std::shared_ptr<ModelFile> file(new ModelFile);
  file->fileInfo.path = path;
  if (Status status = file->load(path); !status)
    return Failure{path + ": " + status.error()};
  if (Status status = file->checkContainer(); !status)
    return Failure{path + ": " + status.error()};
  if (Status status = file->readMetadata(); !status)
    return Failure{path + ": " + status.error()};
  if (Status status = verifyModel(file->desc, file->weightLayout); !status)
    return Failure{path + ": " + status.error()};
  return std::shared_ptr<const ModelFile>(file);
}

Status ModelFile::load(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return Failure{std::string("cannot open: ") + std::strerror(errno)};
  struct stat info;
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return Failure{"is not a regular file"};
  }
  size = info.st_size;
  if (size < sizeof(FileHeader)) {
    ::close(descriptor);
    return Failure{"is not a .pmodel: it has only " + std::to_string(size) + " bytes"};
  }
  void *mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  int reason = errno;
  ::close(descriptor);
  if (mapping == MAP_FAILED)
    return Failure{std::string("cannot map: ") + std::strerror(reason)};
  data = static_cast<const uint8_t *>(mapping);
  return {};
}

Status ModelFile::checkContainer() {
  FileHeader header = headerOf(data);
  if (std::memcmp(header.magic, fileMagic, sizeof(header.magic)) != 0)
    return Failure{"is not a .pmodel: it does not begin with PTOMODEL"};
  if (header.headerHash != contentHash(data, offsetof(FileHeader, headerHash)) || header.zero != 0)
    return Failure{"its header is damaged"};
  if (header.formatMajor != formatMajor)
    return Failure{"has format " + std::to_string(header.formatMajor) + "." + std::to_string(header.formatMinor) +
                   ", this reader understands " + std::to_string(formatMajor) + ".x"};
  if (header.fileSize != size)
    return Failure{"is " + std::string(header.fileSize > size ? "truncated" : "too long") + ": it should have " +
                   std::to_string(header.fileSize) + " bytes and has " + std::to_string(size)};
  if (header.metadataBegin != sizeof(FileHeader) || header.metadataSize > size - sizeof(FileHeader))
    return Failure{"its metadata lies outside the file"};
  if (header.metadataSize >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return Failure{"its metadata is too large"};
  const uint8_t *metadata = data + header.metadataBegin;
  if (header.metadataHash != contentHash(metadata, header.metadataSize))
    return Failure{"its metadata is damaged: the hash differs"};
  // A table takes at least 4 bytes, so this bound accepts every valid file and keeps verification linear in its size.
  flatbuffers::Verifier verifier(metadata, header.metadataSize, 64,
                                 static_cast<flatbuffers::uoffset_t>(header.metadataSize / 4 + 16));
  if (!fb::VerifyModelBuffer(verifier))
    return Failure{"its metadata is not a valid FlatBuffer of a model"};
  fileInfo.formatMajor = header.formatMajor;
  fileInfo.formatMinor = header.formatMinor;
  fileInfo.fileBytes = size;
  fileInfo.metadataBytes = header.metadataSize;
  return {};
}

Status ModelFile::readMetadata() {
  const fb::Model *metadata = metadataOf(data);
  if (metadata->min_reader_minor() > formatMinor)
    return Failure{"needs a reader of format " + std::to_string(formatMajor) + "." +
                   std::to_string(metadata->min_reader_minor()) + ", this one is " + std::to_string(formatMajor) + "." +
                   std::to_string(formatMinor)};
  uint64_t end = sizeof(FileHeader) + fileInfo.metadataBytes;
  auto commands = section(data, size, metadata->commands(), end, "commands");
  if (!commands)
    return commands.failure();
  auto programs = section(data, size, metadata->program_data(), end, "programs");
  if (!programs)
    return programs.failure();
  auto weights = section(data, size, metadata->weight_data(), end, "weights");
  if (!weights)
    return weights.failure();
  if (contentHash(commands->data, commands->size) != metadata->commands_hash())
    return Failure{"its commands are damaged: the hash differs"};
  if (contentHash(programs->data, programs->size) != metadata->programs_hash())
    return Failure{"its programs are damaged: the hash differs"};
  fileInfo.commandBytes = commands->size;
  fileInfo.programBytes = programs->size;
  fileInfo.weightBytes = weights->size;
  return readModel(*metadata, *commands, *programs, *weights, desc, weightLayout);
}

Status ModelFile::checkWeight(size_t index) const {
  const WeightDesc &weight = desc.weights[index];
  if (contentHash(weight.data, weight.size) != weightLayout.hashes[index])
    return Failure{fileInfo.path + ": weight '" + weight.name + "' is damaged: the hash differs"};
  return {};
}

Status ModelFile::checkAllWeights() const {
  for (size_t i = 0; i < desc.weights.size(); ++i)
    if (Status status = checkWeight(i); !status)
      return status;
  return {};
}

std::string ModelFile::metadataJson() const {
  flatbuffers::ToStringVisitor visitor("\n", true, "  ", true);
  auto *root = reinterpret_cast<const uint8_t *>(metadataOf(data));
  flatbuffers::IterateObject(root, fb::ModelTypeTable(), &visitor);
  return visitor.s + "\n";
}

} // namespace pto_mlir::pmodel
