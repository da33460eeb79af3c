// Host threads that live as long as their device context; the caller of run() is one of the workers.
#ifndef PTO_MLIR_CMODEL_THREADPOOL_H
#define PTO_MLIR_CMODEL_THREADPOOL_H

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace pto_mlir::cmodel {

class ThreadPool {
public:
  static constexpr uint32_t maxTasks = (1u << 24) - 512; // room for each worker to ask once too often

  /// `workers` >= 1 counts the calling thread; the others start at the first run() with more than one task.
  explicit ThreadPool(unsigned workers) : workers(workers) {}
  ~ThreadPool();

  /// Calls task(worker, index) for index 0 .. count - 1, each once, indices handed out in ascending order; returns when
  /// all are done. `worker` < size() is used by one thread at a time. count <= maxTasks. Does not wait for a worker
  /// that has nothing to do, so that a busy machine costs nothing but its help.
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
  // Bits 48-63 number of the run, 24-47 its tasks, 0-23 the next one: whoever adds 1 owns the task that he read, if
  // there is one.
  std::atomic<uint64_t> ticket{0};
  std::atomic<uint32_t> finished{0};
  std::atomic<bool> stop{false};
  const std::function<void(unsigned, uint32_t)> *task = nullptr; // stands still while a task of its run is not finished
};

} // namespace pto_mlir::cmodel

#endif
