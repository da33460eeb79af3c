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
  /// `workers` >= 1 counts the calling thread; the others start at the first run() with more than one task.
  explicit ThreadPool(unsigned workers) : workers(workers) {}
  ~ThreadPool();

  /// Calls task(worker, index) for index 0 .. count - 1, each once, indices handed out in ascending order; returns when all are done.
  /// `worker` < workers() is used by one thread at a time.
  void run(uint32_t count, const std::function<void(unsigned worker, uint32_t index)> &task);
  unsigned size() const { return workers; }

private:
  void start();
  void work(unsigned worker);

  unsigned workers;
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable wake, done;
  uint64_t generation = 0;
  unsigned busy = 0;
  bool stop = false;
  const std::function<void(unsigned, uint32_t)> *task = nullptr;
  std::atomic<uint32_t> nextIndex{0};
  uint32_t count = 0;
};

} // namespace pto_mlir::cmodel

#endif
