// A libFuzzer target: bytes as a .pmodel. What opens must have every report of pmodel_tool. Mutations keep the sections
// apart and mend sizes and hashes, so that the checks behind them are reached and a kept input is a file for
// pmodel_tool.
#include "Layout.h"
#include "PModel_generated.h"
#include "pto_mlir/PModel/Report.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace pto_mlir::pmodel;

namespace {

struct Part {
  uint64_t begin, size;
};

/// The header's idea of the metadata, made to fit the file.
Part metadataOf(const std::vector<uint8_t> &bytes) {
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return {sizeof(header), std::min<uint64_t>(header.metadataSize, bytes.size() - sizeof(header))};
}

/// The root of the metadata, or null when it is no FlatBuffer.
fb::Model *rootOf(std::vector<uint8_t> &bytes) {
  Part metadata = metadataOf(bytes);
  flatbuffers::Verifier verifier(bytes.data() + metadata.begin, metadata.size, 64, 1 << 16);
  if (!fb::VerifyModelBuffer(verifier))
    return nullptr;
  return flatbuffers::GetMutableRoot<fb::Model>(bytes.data() + metadata.begin);
}

void mendHash(fb::Model &root, const std::vector<uint8_t> &bytes, const fb::Range *range, uint16_t field) {
  if (range && range->begin() <= bytes.size() && range->size() <= bytes.size() - range->begin())
    reinterpret_cast<flatbuffers::Table &>(root).SetField<uint64_t>(
        field, contentHash(bytes.data() + range->begin(), range->size()), 0);
}

/// Makes sizes and hashes those of the bytes.
void mend(std::vector<uint8_t> &bytes) {
  if (fb::Model *root = rootOf(bytes)) {
    mendHash(*root, bytes, root->commands(), fb::Model::VT_COMMANDS_HASH);
    mendHash(*root, bytes, root->program_data(), fb::Model::VT_PROGRAMS_HASH);
  }
  Part metadata = metadataOf(bytes);
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.metadataSize = metadata.size;
  header.metadataHash = contentHash(bytes.data() + metadata.begin, metadata.size);
  header.fileSize = bytes.size();
  header.headerHash = contentHash(&header, offsetof(FileHeader, headerHash));
  std::memcpy(bytes.data(), &header, sizeof(header));
}

/// The parts of a file that a mutation may change: header, metadata, commands, programs.
std::vector<Part> partsOf(std::vector<uint8_t> &bytes) {
  std::vector<Part> parts = {{0, sizeof(FileHeader)}, metadataOf(bytes)};
  if (fb::Model *root = rootOf(bytes))
    for (const fb::Range *range : {root->commands(), root->program_data()})
      if (range && range->begin() < bytes.size() && range->size())
        parts.push_back({range->begin(), std::min<uint64_t>(range->size(), bytes.size() - range->begin())});
  return parts;
}

/// A number of the part becomes one at the edge of its type, or a neighbour of what it was.
void changeNumber(uint8_t *at, std::mt19937 &random) {
  uint32_t number;
  std::memcpy(&number, at, sizeof(number));
  const uint32_t others[] = {0, 1, ~0u, 1u << 31, 1u << 16, number + 1, number - 1, number * 2};
  number = others[random() % std::size(others)];
  std::memcpy(at, &number, sizeof(number));
}

/// A file in memory with a path.
class MemoryFile {
public:
  MemoryFile() : descriptor(memfd_create("pmodel-fuzz", 0)), path("/proc/self/fd/" + std::to_string(descriptor)) {
    if (descriptor < 0)
      std::abort();
  }
  const std::string &write(const uint8_t *data, size_t size) {
    if (ftruncate(descriptor, size) != 0 || pwrite(descriptor, data, size, 0) != ssize_t(size))
      std::abort();
    return path;
  }

private:
  int descriptor;
  std::string path;
};

} // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed) {
  std::mt19937 random(seed);
  if (size < sizeof(FileHeader) || random() % 64 == 0)
    return LLVMFuzzerMutate(data, size, limit);
  std::vector<uint8_t> bytes(data, data + size);
  std::vector<Part> parts = partsOf(bytes);
  for (unsigned i = 0, count = 1 + random() % 3; i < count; ++i) {
    // The header's few fields and the file's length are changed less often than what they announce.
    Part part = parts[random() % 16 == 0 ? 0 : 1 + random() % (parts.size() - 1)];
    if (part.size < 4)
      continue;
    if (random() % 2)
      changeNumber(bytes.data() + part.begin + random() % (part.size / 4) * 4, random);
    else
      LLVMFuzzerMutate(bytes.data() + part.begin, part.size, part.size);
  }
  if (random() % 32 == 0)
    bytes.resize(std::max<size_t>(sizeof(FileHeader), random() % bytes.size()));
  if (random() % 64)
    mend(bytes);
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static MemoryFile memory;
  auto opened = ModelFile::open(memory.write(data, size));
  if (!opened) {
    if (opened.error().empty())
      std::abort();
    return 0;
  }
  const ModelFile &file = **opened;
  if (infoReport(file).empty() || weightsReport(file).empty() || file.metadataJson().empty())
    std::abort();
  (void)estimateReport(file);
  (void)disassemblyReport(file);
  (void)trafficReport(file);
  (void)file.checkAllWeights();
  return 0;
}
