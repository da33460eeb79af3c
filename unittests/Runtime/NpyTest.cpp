#include "pto_mlir/Runtime/Npy.h"
#include "TestModel.h"

#include <gmock/gmock.h>

#include <filesystem>

using namespace pto_mlir;
using namespace pto_mlir::runtime;
using namespace pto_mlir::testing;
using ::testing::HasSubstr;

namespace {

class Npy : public ::testing::Test {
protected:
  std::string path = temporaryPath("array.npy");
  void TearDown() override { std::filesystem::remove(path); }

  std::string readText(const std::string &header, const std::string &data) {
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size());
    bytes += '\0';
    bytes += header + data;
    writeFile(path, {bytes.begin(), bytes.end()});
    auto array = readNpy(path);
    return array ? "" : array.error();
  }
};

TEST_F(Npy, WhatIsWrittenComesBack) {
  for (const auto &shape : std::vector<std::vector<uint64_t>>{{}, {1}, {2, 3}, {0, 4}, {1, 1, 1, 5}}) {
    NpyArray array{ElementType::F16, shape, {}};
    array.data.resize(*tensorBytes(array.type, shape), 'a');
    ASSERT_TRUE(writeNpy(path, array));
    auto read = readNpy(path);
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(read->type, ElementType::F16);
    EXPECT_EQ(read->shape, shape);
    EXPECT_EQ(read->data, array.data);
  }
}

TEST_F(Npy, TheDataIsAlignedAsNumpyWants) {
  ASSERT_TRUE(writeNpy(path, {ElementType::I64, {3}, std::vector<char>(24)}));
  EXPECT_EQ((readFile(path).size() - 24) % 64, 0u);
}

TEST_F(Npy, TypesThatNumpyLacksAreWrittenAsBits) {
  ASSERT_TRUE(writeNpy(path, {ElementType::BF16, {3}, std::vector<char>(6)}));
  EXPECT_EQ(readNpy(path)->type, ElementType::U16);
}

TEST_F(Npy, BadFilesAreRefused) {
  EXPECT_EQ(readText("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", "12345678"), "");
  struct Case {
    const char *header, *data, *message;
  } cases[] = {
      {"{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", "1234",
       "holds 4 bytes of data, its header promises 8"},
      {"{'descr': '<i4', 'fortran_order': True, 'shape': (2,), }", "12345678", "column-major"},
      {"{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }", "12345678", "element type '>i4' is not supported"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "", "element type '|O' is not supported"},
      {"{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }", "1234", "structured arrays"},
      {"{'descr': '<i4', 'shape': (2,), }", "12345678", "lacks descr, fortran_order or shape"},
      {"{'descr': '<i4', 'fortran_order': False, 'shape': (-2,), }", "", "shape is malformed"},
      {"{'descr': '<i4', 'fortran_order': False, 'shape': (4611686018427387904, 8), }", "", "more than fit"},
      {"{'descr': '<i4', 'fortran_order': False, 'shape': (2", "", "shape is malformed"},
      {"__import__('os')", "", "is not a dictionary"},
      {"", "", "is not a dictionary"},
  };
  for (const Case &test : cases)
    EXPECT_THAT(readText(test.header, test.data), HasSubstr(test.message)) << test.header;
  writeFile(path, {'x', 'y'});
  EXPECT_THAT(readNpy(path).error(), HasSubstr("is not an .npy file"));
  EXPECT_THAT(readNpy("/nonexistent.npy").error(), HasSubstr("/nonexistent.npy: cannot open"));
  EXPECT_FALSE(readNpy("/tmp"));
  EXPECT_FALSE(writeNpy("/nonexistent-folder/a.npy", {}));
}

} // namespace
