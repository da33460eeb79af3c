// How tasks of one run tell why the run failed.
#ifndef PTO_MLIR_RUNTIME_FIRSTFAILURE_H
#define PTO_MLIR_RUNTIME_FIRSTFAILURE_H

#include "pto_mlir/Support/Result.h"

#include <mutex>
#include <stdexcept>
#include <string>

namespace pto_mlir::runtime {

/// What the first of several tasks that failed said. Any thread.
class FirstFailure {
public:
  /// For the end of a task: a failure is noted and thrown, so that the runtime poisons what depends on the task.
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
  /// Empty when none failed.
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
