#include "ThreadPool.h"

namespace pto_mlir::cmodel {

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex);
    stop = true;
  }
  wake.notify_all();
  for (std::thread &t : threads)
    t.join();
}

void ThreadPool::start() {
  for (unsigned w = 1; w < workers; ++w)
    threads.emplace_back([this, w] { work(w); });
}

void ThreadPool::work(unsigned worker) {
  uint64_t seen = 0;
  std::unique_lock lock(mutex);
  while (true) {
    wake.wait(lock, [&] { return stop || generation != seen; });
    if (stop)
      return;
    seen = generation;
    lock.unlock();
    for (uint32_t i; (i = nextIndex.fetch_add(1, std::memory_order_relaxed)) < count;)
      (*task)(worker, i);
    lock.lock();
    if (--busy == 0)
      done.notify_one();
  }
}

void ThreadPool::run(uint32_t tasks, const std::function<void(unsigned, uint32_t)> &function) {
  if (workers == 1 || tasks <= 1) {
    for (uint32_t i = 0; i < tasks; ++i)
      function(0, i);
    return;
  }
  if (threads.empty())
    start();
  {
    std::lock_guard lock(mutex);
    task = &function;
    count = tasks;
    nextIndex.store(0, std::memory_order_relaxed);
    busy = unsigned(threads.size());
    ++generation;
  }
  wake.notify_all();
  for (uint32_t i; (i = nextIndex.fetch_add(1, std::memory_order_relaxed)) < tasks;)
    function(0, i);
  std::unique_lock lock(mutex);
  done.wait(lock, [&] { return busy == 0; });
}

} // namespace pto_mlir::cmodel
