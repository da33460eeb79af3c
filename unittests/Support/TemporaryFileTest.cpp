#include "pto_mlir/Support/TemporaryFile.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pto_mlir {
namespace {

class TemporaryFileTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/temporaryXXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    path = folder / "model.bin";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string content() const {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  size_t numFiles() const {
    std::filesystem::directory_iterator files(folder);
    return std::distance(begin(files), end(files));
  }

  std::filesystem::path folder, path;
};

TEST_F(TemporaryFileTest, AppearsOnCommit) {
  TemporaryFile file(path);
  ASSERT_TRUE(file.open());
  ASSERT_TRUE(file.write("abc", 3));
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(file.padTo(5));
  ASSERT_TRUE(file.commit());
  EXPECT_EQ(content(), std::string("abc\0\0", 5));
  EXPECT_EQ(numFiles(), 1u);
}

TEST_F(TemporaryFileTest, ReplacesAnOlderFile) {
  ASSERT_TRUE(writeFile(path, "old text", 8));
  ASSERT_TRUE(writeFile(path, "new", 3));
  EXPECT_EQ(content(), "new");
  EXPECT_EQ(numFiles(), 1u);
}

TEST_F(TemporaryFileTest, LeavesNothingWithoutCommit) {
  {
    TemporaryFile file(path);
    ASSERT_TRUE(file.open());
    ASSERT_TRUE(file.write("abc", 3));
  }
  EXPECT_EQ(numFiles(), 0u);
}

TEST_F(TemporaryFileTest, LeavesNothingBehindAKilledProcess) {
  pid_t child = ::fork();
  if (child == 0) {
    TemporaryFile file(path);
    if (file.open() && file.write("abc", 3))
      ::raise(SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  int unnamed = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
  if (unnamed < 0)
    GTEST_SKIP() << "the file system has no O_TMPFILE";
  ::close(unnamed);
  EXPECT_EQ(numFiles(), 0u);
}

TEST_F(TemporaryFileTest, WritesToPipesInPlace) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_TRUE(writeFile(path, "abc", 3));
  char text[4] = {};
  EXPECT_EQ(::read(reader, text, sizeof(text)), 3);
  EXPECT_STREQ(text, "abc");
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(path)) << "a pipe is not replaced by a file";
  EXPECT_EQ(numFiles(), 1u);
}

TEST_F(TemporaryFileTest, NamesTheFileInErrors) {
  std::string missing = folder / "missing" / "model.bin";
  Status status = writeFile(missing, "abc", 3);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error(), missing + ": cannot write: No such file or directory");
  EXPECT_FALSE(writeFile(folder, "abc", 3)) << "a folder is not replaced";
}

} // namespace
} // namespace pto_mlir
