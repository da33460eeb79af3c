#include "pto_mlir/Support/Safetensors.h"
#include "pto_mlir/Support/TemporaryFile.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pto_mlir {

using Json = nlohmann::json;

// The limit of the reference implementation.
static constexpr uint64_t kMaxHeader = 100'000'000;

unsigned safetensorsElementBytes(const std::string &dtype) {
  static const std::map<std::string, unsigned> sizes = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"I16", 2}, {"U16", 2}, {"F16", 2},
      {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4},     {"F64", 8},     {"I64", 8}, {"U64", 8}};
  auto it = sizes.find(dtype);
  return it == sizes.end() ? 0 : it->second;
}

std::shared_ptr<const SafetensorsFile> SafetensorsFile::open(const std::string &path, std::string &error) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    error = path + ": cannot open: " + std::strerror(errno);
    return nullptr;
  }
  std::shared_ptr<SafetensorsFile> file(new SafetensorsFile);
  struct stat info;
  std::string reason;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    reason = "not a regular file";
  } else if (info.st_size < 8) {
    reason = "not a safetensors file (shorter than 8 bytes)";
  } else {
    file->length = info.st_size;
    void *map = ::mmap(nullptr, file->length, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
      reason = std::string("cannot map: ") + std::strerror(errno);
    else
      file->base = static_cast<const char *>(map);
  }
  ::close(fd);
  if (reason.empty() && file->parse(reason))
    return file;
  error = path + ": " + reason;
  return nullptr;
}

SafetensorsFile::~SafetensorsFile() {
  if (base)
    ::munmap(const_cast<char *>(base), length);
}

const SafetensorsEntry *SafetensorsFile::find(const std::string &name) const {
  auto it = tensors.find(name);
  return it == tensors.end() ? nullptr : &it->second;
}

// Parses one header entry. On error returns false and sets `reason`.
static bool parseEntry(const Json &value, uint64_t dataSize, const char *data, SafetensorsEntry &entry,
                       std::string &reason) {
  auto fail = [&](const char *what) {
    reason = "tensor '" + entry.name + "': " + what;
    return false;
  };
  if (!value.is_object() || !value.contains("dtype") || !value["dtype"].is_string() || !value.contains("shape") ||
      !value["shape"].is_array() || !value.contains("data_offsets") || !value["data_offsets"].is_array() ||
      value["data_offsets"].size() != 2)
    return fail("header entry lacks dtype, shape or data_offsets");
  entry.dtype = value["dtype"].get<std::string>();
  uint64_t bytes = safetensorsElementBytes(entry.dtype);
  if (!bytes)
    return fail("unknown dtype");
  for (const Json &size : value["shape"]) {
    if (!size.is_number_unsigned() || size.get<uint64_t>() > INT64_MAX ||
        __builtin_mul_overflow(bytes, size.get<uint64_t>(), &bytes))
      return fail("bad shape");
    entry.shape.push_back(size.get<uint64_t>());
  }
  const Json &offsets = value["data_offsets"];
  if (!offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
    return fail("bad data_offsets");
  uint64_t begin = offsets[0], end = offsets[1];
  if (begin > end || end > dataSize)
    return fail("data lies outside the file");
  if (end - begin != bytes)
    return fail("number of bytes differs from what dtype and shape need");
  entry.data = data + begin;
  entry.size = bytes;
  return true;
}

bool SafetensorsFile::parse(std::string &reason) {
  uint64_t headerSize;
  std::memcpy(&headerSize, base, 8);
  if (headerSize > kMaxHeader || headerSize > length - 8) {
    reason = "not a safetensors file (header length " + std::to_string(headerSize) + " is out of range)";
    return false;
  }
  Json header = Json::parse(base + 8, base + 8 + headerSize, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) {
    reason = "not a safetensors file (the header is not a JSON object)";
    return false;
  }
  const char *data = base + 8 + headerSize;
  uint64_t dataSize = length - 8 - headerSize;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (auto &[name, value] : header.items()) {
    if (name == "__metadata__")
      continue;
    SafetensorsEntry entry;
    entry.name = name;
    if (!parseEntry(value, dataSize, data, entry, reason))
      return false;
    ranges.emplace_back(entry.data - data, entry.size);
    tensors.emplace(name, std::move(entry));
  }
  std::sort(ranges.begin(), ranges.end());
  uint64_t position = 0;
  for (auto [begin, size] : ranges) {
    if (begin != position) {
      reason = begin < position ? "tensors overlap" : "bytes between tensors belong to none";
      return false;
    }
    position += size;
  }
  if (position != dataSize) {
    reason = "bytes after the last tensor belong to none";
    return false;
  }
  return true;
}

bool writeSafetensors(const std::string &path, const std::vector<SafetensorsEntry> &entries, std::string &error) {
  Json header = Json::object();
  uint64_t offset = 0;
  for (const SafetensorsEntry &entry : entries) {
    header[entry.name] = {
        {"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", {offset, offset + entry.size}}};
    offset += entry.size;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  uint64_t headerSize = text.size();

  TemporaryFile file(path);
  auto write = [&]() -> Status {
    if (Status status = file.open(); !status)
      return status;
    if (Status status = file.write(&headerSize, 8); !status)
      return status;
    if (Status status = file.write(text.data(), text.size()); !status)
      return status;
    for (const SafetensorsEntry &entry : entries)
      if (Status status = file.write(entry.data, entry.size); !status)
        return status;
    return file.commit();
  };
  Status status = write();
  if (!status)
    error = status.error();
  return bool(status);
}

} // namespace pto_mlir
