// Blocking of idle threads.
#ifndef PTO_MLIR_LIB_TASKRUNTIME_PARKER_H
#define PTO_MLIR_LIB_TASKRUNTIME_PARKER_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace pto_mlir::tasks {

inline void pauseCpu() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

/// An asymmetric pair of fences: of two threads that each store, fence and load what the other stores, one with the
/// light and one with the heavy fence, at least one sees the other's store. The heavy fence is membarrier(2), so that
/// the light one, executed before each task, is a compiler barrier; where membarrier is unavailable, both are processor
/// fences.
#if defined(__linux__)
inline const bool kernelFences = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
#else
inline constexpr bool kernelFences = false;
#endif
inline void lightFence() {
  if (kernelFences)
    std::atomic_signal_fence(std::memory_order_seq_cst);
  else
    std::atomic_thread_fence(std::memory_order_seq_cst);
}
inline void heavyFence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
#if defined(__linux__)
  if (kernelFences)
    (void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
#endif
}

/// The sleeper sets its flag, then checks the condition again; the notifier publishes, then checks the flag. The fences
/// between guarantee that one sees the other, so no wake-up is lost, and a notification without sleepers costs one
/// load.
class alignas(64) Parker {
public:
  /// Sleeps until notified, until `timeout`, or not at all when `ready` holds.
  template <class Ready> void park(Ready &&ready, std::chrono::microseconds timeout) {
    std::unique_lock lock(mutex);
    sleeping.store(true, std::memory_order_relaxed);
    heavyFence();
    if (!ready()) {
      uint64_t seen = epoch;
      condition.wait_for(lock, timeout, [&] { return epoch != seen; });
    }
    sleeping.store(false, std::memory_order_relaxed);
  }

  /// The condition must have been published before the call.
  void notify() {
    lightFence();
    notifyAfterFence();
  }
  void notifyAfterFence() {
    if (!sleeping.load(std::memory_order_relaxed))
      return;
    std::lock_guard lock(mutex);
    ++epoch;
    condition.notify_one();
  }

private:
  std::atomic<bool> sleeping{false};
  std::mutex mutex;
  std::condition_variable condition;
  uint64_t epoch = 0;
};

/// Spins, then yields, then returns false and the caller sleeps. After a yield that lost the processor for a long time,
/// yields are skipped for a while: the OS scheduler prefers a woken sleeper over running programs.
class Backoff {
public:
  Backoff(uint32_t spins, uint32_t yields) : spins(spins), yields(yields) {}
  void reset() { rounds = 0; }
  /// False when it is time to sleep.
  bool pause() {
    thread_local uint32_t crowded = 0; // number of yields to skip
    if (rounds >= spins + yields)
      return false;
    if (rounds++ < spins) {
      pauseCpu();
      return true;
    }
    if (crowded != 0) {
      --crowded;
      return false;
    }
    auto begin = std::chrono::steady_clock::now();
    std::this_thread::yield();
    if (std::chrono::steady_clock::now() - begin > std::chrono::microseconds(200))
      crowded = 256;
    return true;
  }

private:
  const uint32_t spins, yields;
  uint32_t rounds = 0;
};

} // namespace pto_mlir::tasks

#endif
