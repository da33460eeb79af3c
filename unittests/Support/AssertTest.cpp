// Sanitizer builds are the gate's builds with assertions (docs/developing.md).
#include <gtest/gtest.h>

#include <cassert>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)

TEST(Assert, IsOnUnderSanitizers) { EXPECT_DEATH(assert(false && "assertions are on"), "assertions are on"); }

#else

TEST(Assert, FollowsTheBuildType) {
#ifdef NDEBUG
  assert(false && "assertions are off");
#else
  EXPECT_DEATH(assert(false && "assertions are on"), "assertions are on");
#endif
}

#endif
