// A file that appears under its name only when it is complete.
#ifndef PTO_MLIR_SUPPORT_TEMPORARYFILE_H
#define PTO_MLIR_SUPPORT_TEMPORARYFILE_H

#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <string>

namespace pto_mlir {

/// Writes a file beside `path` and moves it there on `commit`. The file has no name until then where the file system
/// supports this (O_TMPFILE), so that a killed process leaves nothing behind; elsewhere it is named `<path>.tmp<pid>`.
class TemporaryFile {
public:
  explicit TemporaryFile(std::string path);
  /// Removes what was written unless `commit` succeeded.
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  Status open();
  Status write(const void *data, uint64_t bytes);
  /// Zero bytes up to file offset `offset`.
  Status padTo(uint64_t offset);
  /// Gives the file its name, replacing an older one.
  Status commit();

  uint64_t size() const { return written; }

private:
  Failure failure(const std::string &what) const;
  bool openUnnamed();
  /// Links the unnamed file to `temporary`.
  bool giveName();

  std::string path, temporary;
  int descriptor = -1;
  bool isNamed = false; ///< `temporary` exists
  uint64_t written = 0;
};

/// Writes a whole file at once.
Status writeFile(const std::string &path, const void *data, uint64_t bytes);

} // namespace pto_mlir

#endif
