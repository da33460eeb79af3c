// Shared fixtures of the task runtime tests.
#ifndef PTO_MLIR_UNITTESTS_TASKRUNTIME_HARNESS_H
#define PTO_MLIR_UNITTESTS_TASKRUNTIME_HARNESS_H

#include "pto_mlir/TaskRuntime/TaskRuntime.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pto_mlir::tasks {

/// Whether PTO_MLIR_FULL_TESTS=1 selects the long versions.
inline bool fullTests() {
  const char *value = std::getenv("PTO_MLIR_FULL_TESTS");
  return value && std::string(value) == "1";
}

/// Factor by which tests are shortened under a sanitizer.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr int kSlow = 10;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
inline constexpr int kSlow = 10;
#else
inline constexpr int kSlow = 1;
#endif
#else
inline constexpr int kSlow = 1;
#endif

/// A configuration with few cores and small rings.
inline Config smallConfig() {
  Config config;
  config.cores = {1, 2, 1, 1};
  config.window = {64, 64, 64, 64};
  config.heapBytes = {1 << 20, 1 << 20, 1 << 20, 1 << 20};
  config.dependencyEntries = 4096;
  config.tensorMapEntries = 4096;
  return config;
}

/// A runtime with this configuration; fails the test on an error.
inline std::unique_ptr<TaskRuntime> make(const Config &config) {
  auto runtime = TaskRuntime::create(config);
  EXPECT_TRUE(runtime) << runtime.error();
  return runtime.take();
}

inline KernelId add(TaskRuntime &runtime, std::string name, KernelBody body, uint64_t cost = 1000) {
  auto kernel = runtime.registerKernel(std::move(name), std::move(body), cost);
  EXPECT_TRUE(kernel) << kernel.error();
  return *kernel;
}

inline TaskId submit(TaskRuntime &runtime, TaskSpec &spec) {
  auto id = runtime.submit(spec);
  EXPECT_TRUE(id) << (id ? "" : id.error());
  return id ? *id : TaskId{};
}
inline TaskId submit(TaskRuntime &runtime, TaskSpec &&spec) { return submit(runtime, spec); }

/// Runs a test in both modes; instantiated in SceneTest.cpp.
class BothModes : public ::testing::TestWithParam<Mode> {
protected:
  Config config() const {
    Config config = smallConfig();
    config.mode = GetParam();
    return config;
  }
};

#define EXPECT_OK(expr)                                                                                                \
  do {                                                                                                                 \
    auto &&result_ = (expr);                                                                                           \
    EXPECT_TRUE(result_) << (result_ ? std::string() : result_.error());                                               \
  } while (false)

template <class T = float> T *pointer(uint64_t word) { return reinterpret_cast<T *>(uintptr_t(word)); }

} // namespace pto_mlir::tasks

#endif
