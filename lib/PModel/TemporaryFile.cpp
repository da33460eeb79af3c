#include "TemporaryFile.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pto_mlir::pmodel {

TemporaryFile::TemporaryFile(std::string path) : path(std::move(path)) {
  temporary = this->path + ".tmp" + std::to_string(getpid());
}

TemporaryFile::~TemporaryFile() {
  if (descriptor >= 0) {
    ::close(descriptor);
    ::unlink(temporary.c_str());
  }
}

Failure TemporaryFile::failure(const std::string &what) const {
  return Failure{path + ": cannot " + what + ": " + std::strerror(errno)};
}

Status TemporaryFile::open() {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return failure("write");
  }
  descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return failure("write");
  return {};
}

Status TemporaryFile::write(const void *data, uint64_t bytes) {
  auto *next = static_cast<const char *>(data);
  while (bytes) {
    // Linux moves at most 2 GiB per call.
    ssize_t done = ::write(descriptor, next, std::min<uint64_t>(bytes, uint64_t(1) << 30));
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return failure("write");
    next += done;
    bytes -= done;
    written += done;
  }
  return {};
}

Status TemporaryFile::padTo(uint64_t offset) {
  static const char zeros[4096] = {};
  while (written < offset)
    if (Status status = write(zeros, std::min<uint64_t>(offset - written, sizeof(zeros))); !status)
      return status;
  return {};
}

Status TemporaryFile::commit() {
  int closed = ::close(descriptor);
  descriptor = -1;
  if (closed != 0 || ::rename(temporary.c_str(), path.c_str()) != 0) {
    Failure reason = failure("write");
    ::unlink(temporary.c_str());
    return reason;
  }
  return {};
}

} // namespace pto_mlir::pmodel
