// Atomic file replacement.
#ifndef PTO_MLIR_SUPPORT_TEMPORARYFILE_H
#define PTO_MLIR_SUPPORT_TEMPORARYFILE_H

#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

namespace pto_mlir {

/// Whether a new file may take the place of `path`: a regular file or nothing is there. A device or a pipe is written
/// to instead.
inline bool isReplaceable(const std::string &path) {
  std::error_code ignored;
  auto type = std::filesystem::status(path, ignored).type();
  return type == std::filesystem::file_type::not_found || type == std::filesystem::file_type::regular;
}

/// Writes a temporary file in the folder of `path` and renames it to `path` on `commit`; what is not replaceable is
/// written to at once. Where the file system supports
/// O_TMPFILE the file is unnamed until then, so that a killed process leaves none behind; elsewhere it is named
/// `<path>.tmp<pid>`.
class TemporaryFile {
public:
  explicit TemporaryFile(std::string path);
  /// Deletes the temporary file unless `commit` succeeded.
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  /// Creates the temporary file. Must be called before `write`.
  Status open();
  /// Appends `bytes` bytes.
  Status write(const void *data, uint64_t bytes);
  /// Writes zeros up to file offset `offset`.
  Status padTo(uint64_t offset);
  /// Renames the file to `path`, replacing an existing one.
  Status commit();

  uint64_t size() const { return written; }

private:
  Failure failure(const std::string &what) const;
  bool openUnnamed();
  /// Links the unnamed file to `temporary`.
  bool giveName();

  std::string path, temporary;
  int descriptor = -1;
  bool isNamed = false;  ///< `temporary` exists
  bool isDirect = false; ///< `path` itself is written
  uint64_t written = 0;
};

/// Writes a whole file at once.
Status writeFile(const std::string &path, const void *data, uint64_t bytes);

} // namespace pto_mlir

#endif
