// Injected failure of every allocation of a submission.
#include "Harness.h"

#include <new>

namespace {
/// Successful allocations of this thread until one fails; negative: none fails.
thread_local int allocationsLeft = -1;
} // namespace

void *operator new(size_t bytes) {
  if (allocationsLeft >= 0 && allocationsLeft-- == 0)
    throw std::bad_alloc();
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
void *operator new[](size_t bytes) { return operator new(bytes); }
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }

namespace pto_mlir::tasks {
namespace {

TEST(AllocationFailure, T10_ASubmissionThatThrowsLeavesNothingBehind) {
  int failures = 0;
  bool done = false;
  for (int n = 0; !done; ++n) {
    ASSERT_LT(n, 1000);
    Config config = smallConfig();
    config.trace = true;
    auto runtime = make(config);
    KernelId work = add(*runtime, "work", [](KernelCall &) {});
    EXPECT_OK(runtime->begin());
    EXPECT_OK(runtime->scopeBegin());
    TaskSpec producer(work);
    TaskId first = submit(*runtime, producer.allocate(4, {16}));
    EXPECT_OK(runtime->scopeBegin()); // the next submission allocates a new ring
    float external[4] = {};
    TaskSpec consumer(work);
    consumer.input(producer.outputs()[0]).inout(Tensor::dense(external, 4, {4})).after(first).allocate(4, {4});
    allocationsLeft = n;
    try {
      auto id = runtime->submit(consumer);
      done = allocationsLeft >= 0; // no allocation failed
      allocationsLeft = -1;
      EXPECT_TRUE(id);
    } catch (const std::bad_alloc &) {
      allocationsLeft = -1;
      ++failures;
      EXPECT_EQ(runtime->statistics().submitted, 1u);
      EXPECT_TRUE(runtime->submit(consumer)); // allocations succeed again
    }
    EXPECT_OK(runtime->scopeEnd());
    EXPECT_OK(runtime->scopeEnd());
    EXPECT_OK(runtime->finish()); // would hang on a claim that was not released
    EXPECT_EQ(runtime->statistics().completed, 2u);
  }
  EXPECT_GT(failures, 2);
}

} // namespace
} // namespace pto_mlir::tasks
