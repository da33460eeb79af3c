#include "pto_mlir/Support/TemporaryFile.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace pto_mlir {

TemporaryFile::TemporaryFile(std::string path) : path(std::move(path)) {
  temporary = this->path + ".tmp" + std::to_string(getpid());
}

TemporaryFile::~TemporaryFile() {
  if (descriptor >= 0)
    ::close(descriptor);
  if (isNamed)
    ::unlink(temporary.c_str());
}

Failure TemporaryFile::failure(const std::string &what) const {
  return Failure{path + ": cannot " + what + ": " + std::strerror(errno)};
}

/// A path for linkat to an unnamed file that requires no capability (open(2), O_TMPFILE).
static std::string procName(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

bool TemporaryFile::openUnnamed() {
#ifdef O_TMPFILE
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  descriptor = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return false;
  // Without /proc the file could not be linked.
  if (::access(procName(descriptor).c_str(), F_OK) == 0)
    return true;
  ::close(descriptor);
  descriptor = -1;
#endif
  return false;
}

Status TemporaryFile::open() {
  if (!isReplaceable(path)) {
    isDirect = true;
    descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return descriptor < 0 ? Status(failure("write")) : Status();
  }
  if (openUnnamed())
    return {};
  descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return failure("write");
  isNamed = true;
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

bool TemporaryFile::giveName() {
  // linkat cannot replace an existing file, so link to a temporary name first and rename.
  ::unlink(temporary.c_str());
  return isNamed =
             ::linkat(AT_FDCWD, procName(descriptor).c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

Status TemporaryFile::commit() {
  if (!isDirect && !isNamed && !giveName())
    return failure("write");
  int closed = ::close(descriptor);
  descriptor = -1;
  if (closed != 0 || (!isDirect && ::rename(temporary.c_str(), path.c_str()) != 0))
    return failure("write");
  isNamed = false;
  return {};
}

Status writeFile(const std::string &path, const void *data, uint64_t bytes) {
  TemporaryFile file(path);
  if (Status status = file.open(); !status)
    return status;
  if (Status status = file.write(data, bytes); !status)
    return status;
  return file.commit();
}

} // namespace pto_mlir
