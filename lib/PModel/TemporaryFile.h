// A file that appears under its name only when it is complete.
#ifndef PTO_MLIR_LIB_PMODEL_TEMPORARYFILE_H
#define PTO_MLIR_LIB_PMODEL_TEMPORARYFILE_H

#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <string>

namespace pto_mlir::pmodel {

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

  std::string path, temporary;
  int descriptor = -1;
  uint64_t written = 0;
};

} // namespace pto_mlir::pmodel

#endif
