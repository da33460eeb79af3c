// Host threads with the lifetime of their device context; the caller of run() is one of the workers.
#ifndef PTO_MLIR_CMODEL_THREADPOOL_H
#define PTO_MLIR_CMODEL_THREADPOOL_H

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace pto_mlir::cmodel {

/// A pool that distributes the tasks of one run at a time.
class ThreadPool {
public:
  static constexpr uint32_t maxTasks = (1u << 24) - 512; // leaves room for one failed fetch per worker

  /// `workers` >= 1 includes the calling thread; the others are started by the first run() with more than one task.
  explicit ThreadPool(unsigned workers) : workers(workers) {}
  ~ThreadPool();

  /// Calls task(worker, index) once for each index in 0 .. count - 1, in ascending order of start, and returns when all
  /// are done. At any time each `worker` < size() is used by one thread only. count <= maxTasks. Does not wait for
  /// workers that got no task, so that a busy machine does not delay the run.
  void run(uint32_t count, const std::function<void(unsigned worker, uint32_t index)> &task);
  unsigned size() const { return workers; }

private:
  void start();
  void work(unsigned worker);
  uint64_t takeTasks(unsigned worker);

  unsigned workers;
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable wake, done;
  // Bits 48-63: number of the run; 24-47: its number of tasks; 0-23: the next task. The thread that increments the
  // ticket owns the task it read, if there is one.
  std::atomic<uint64_t> ticket{0};
  std::atomic<uint32_t> finished{0};
  std::atomic<bool> stop{false};
  const std::function<void(unsigned, uint32_t)> *task = nullptr; // constant while a task of its run is unfinished
};

} // namespace pto_mlir::cmodel

#endif
