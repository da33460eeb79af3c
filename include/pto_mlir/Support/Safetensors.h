// Reads and writes safetensors files: 8 bytes of header length, a JSON header, the tensor data.
#ifndef PTO_MLIR_SUPPORT_SAFETENSORS_H
#define PTO_MLIR_SUPPORT_SAFETENSORS_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pto_mlir {

/// One tensor: row-major, little-endian; `size` in bytes matches dtype and shape.
struct SafetensorsEntry {
  std::string name;
  std::string dtype; ///< "F32", "F16", "BF16", "I64", ... as the format spells them
  std::vector<int64_t> shape;
  const char *data = nullptr;
  uint64_t size = 0;
};

/// Bytes per element of a dtype; 0 for an unknown one.
unsigned safetensorsElementBytes(const std::string &dtype);

/// A memory-mapped file. Opening it checks header, types, sizes, bounds, overlaps and gaps.
class SafetensorsFile {
public:
  /// Returns null on error and sets `error` to "<path>: <reason>".
  static std::shared_ptr<const SafetensorsFile> open(const std::string &path, std::string &error);
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile &) = delete;
  SafetensorsFile &operator=(const SafetensorsFile &) = delete;

  /// The tensor of this name, or null; valid for the lifetime of this object.
  const SafetensorsEntry *find(const std::string &name) const;
  const std::map<std::string, SafetensorsEntry> &entries() const { return tensors; }

private:
  SafetensorsFile() = default;
  bool parse(std::string &reason);

  const char *base = nullptr;
  uint64_t length = 0;
  std::map<std::string, SafetensorsEntry> tensors;
};

/// Writes a file atomically. On error returns false, leaves no partial file and sets `error`.
bool writeSafetensors(const std::string &path, const std::vector<SafetensorsEntry> &entries, std::string &error);

} // namespace pto_mlir

#endif // PTO_MLIR_SUPPORT_SAFETENSORS_H
