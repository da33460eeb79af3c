// Collects the failure of a run from its tasks.
#ifndef PTO_MLIR_RUNTIME_FIRSTFAILURE_H
#define PTO_MLIR_RUNTIME_FIRSTFAILURE_H

#include "pto_mlir/Support/Result.h"

#include <mutex>
#include <stdexcept>
#include <string>

namespace pto_mlir::runtime {

/// Keeps the message of the first task that fails. Thread-safe.
class FirstFailure {
public:
  /// Called at the end of a task. Records a failure and throws it, so that the runtime skips the task's consumers.
  void check(const Status &status) {
    if (status)
      return;
    {
      std::lock_guard lock(mutex);
      if (message.empty())
        message = status.error();
    }
    throw std::runtime_error(status.error());
  }
  /// The recorded message; empty when no task has failed.
  std::string text() const {
    std::lock_guard lock(mutex);
    return message;
  }
  void clear() {
    std::lock_guard lock(mutex);
    message.clear();
  }

private:
  mutable std::mutex mutex;
  std::string message;
};

} // namespace pto_mlir::runtime

#endif
