#include "Machine/ThreadPool.h"

#include <chrono>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace pto_mlir::cmodel {
namespace {

/// Spins before sleeping: launches follow one another within microseconds, and waking a thread takes longer.
template <class F> bool spinUntil(F &&condition) {
  constexpr auto patience = std::chrono::microseconds(40);
  auto end = std::chrono::steady_clock::now() + patience;
  do {
    for (int i = 0; i < 32; ++i) {
      if (condition())
        return true;
#if defined(__x86_64__) || defined(__i386__)
      _mm_pause();
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
  return condition();
}

uint32_t tasksOf(uint64_t ticket) { return uint32_t(ticket >> 24 & 0xffffff); }
uint64_t runOf(uint64_t ticket) { return ticket >> 48; }

} // namespace

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

/// Runs tasks until none is left; returns the ticket that found the run exhausted.
uint64_t ThreadPool::takeTasks(unsigned worker) {
  while (true) {
    uint64_t mine = ticket.fetch_add(1, std::memory_order_acq_rel);
    auto index = uint32_t(mine & 0xffffff);
    if (index >= tasksOf(mine))
      return mine;
    (*task)(worker, index);
    if (finished.fetch_add(1, std::memory_order_acq_rel) + 1 == tasksOf(mine)) {
      std::lock_guard lock(mutex);
      done.notify_one();
    }
  }
}

void ThreadPool::work(unsigned worker) {
  uint64_t seen = 0;
  auto news = [&] {
    return stop.load(std::memory_order_relaxed) || runOf(ticket.load(std::memory_order_acquire)) != seen;
  };
  while (true) {
    if (!spinUntil(news)) {
      std::unique_lock lock(mutex);
      wake.wait(lock, news);
    }
    if (stop)
      return;
    seen = runOf(takeTasks(worker));
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
  task = &function;
  finished.store(0, std::memory_order_relaxed);
  {
    std::lock_guard lock(mutex);
    ticket.store((runOf(ticket.load(std::memory_order_relaxed)) + 1) << 48 | uint64_t(tasks) << 24,
                 std::memory_order_release);
  }
  wake.notify_all();
  takeTasks(0);
  auto complete = [&] { return finished.load(std::memory_order_acquire) == tasks; };
  if (!spinUntil(complete)) {
    std::unique_lock lock(mutex);
    done.wait(lock, complete);
  }
}

} // namespace pto_mlir::cmodel
