#include "pto_mlir/Support/Utf8.h"

#include <gtest/gtest.h>

namespace pto_mlir {
namespace {

TEST(Utf8, AcceptsSequencesOfEveryLength) {
  EXPECT_TRUE(isUtf8(""));
  EXPECT_TRUE(isUtf8("plain"));
  EXPECT_TRUE(isUtf8("\u00e4\u6587\U0001f600"));
  EXPECT_EQ(escapeNonUtf8("\u00e4\u6587\U0001f600"), "\u00e4\u6587\U0001f600");
}

TEST(Utf8, RejectsWhatIsMalformed) {
  for (const char *text : {"\xff", "a\x80", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe6\x96"})
    EXPECT_FALSE(isUtf8(text)) << escapeNonUtf8(text);
}

TEST(Utf8, EscapesTheBadBytesOnly) { EXPECT_EQ(escapeNonUtf8("a\xff\u00e4\xc3"), "a\\xff\u00e4\\xc3"); }

} // namespace
} // namespace pto_mlir
