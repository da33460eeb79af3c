// Round trips; merging by the Builder; files that the Reader rejects.
#include "TestModel.h"
#include "pto_mlir/ISA/Codec.h"
#include "pto_mlir/PModel/Builder.h"
#include "pto_mlir/PModel/Reader.h"
#include "pto_mlir/PModel/Verifier.h"

#include <gmock/gmock.h>
#include <xxhash.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <random>

using namespace pto_mlir;
using namespace pto_mlir::pmodel;
using namespace pto_mlir::testing;
using ::testing::HasSubstr;

namespace {

class File : public ::testing::Test {
protected:
  std::vector<float> bias = std::vector<float>(3 * 7, 0.5f);
  ModelDesc model = biasReluModel(3, 7, bias);
  std::string path = temporaryPath("file.pmodel");

  void TearDown() override { std::filesystem::remove(path); }

  WriteSummary write() {
    auto summary = writeModel(model, path);
    EXPECT_TRUE(summary) << summary.error();
    return summary ? *summary : WriteSummary();
  }
  /// The error of opening `bytes`; empty if they open.
  std::string openBytes(const std::vector<char> &bytes) {
    writeFile(path, bytes);
    auto file = ModelFile::open(path);
    return file ? "" : file.error();
  }
};

TEST_F(File, EverythingComesBack) {
  model.nets[0].preprocess = "{\"mean\": [1, 2]}";
  model.nets[0].variants[0].inputs[0].quantization = {{0.5f}, {3}, -1};
  model.nets[0].variants[0].hostOps = {"node_7: strings"};
  WriteSummary summary = write();
  auto opened = ModelFile::open(path);
  ASSERT_TRUE(opened) << opened.error();
  const ModelDesc &read = (*opened)->model();
  EXPECT_EQ(read.producer, "pto-mlir test");
  EXPECT_EQ(read.processor, "a3");
  ASSERT_EQ(read.kernels.size(), 2u);
  EXPECT_EQ(read.kernels[1].name, "k1_y");
  EXPECT_EQ(read.kernels[1].streams[2].words, model.kernels[1].streams[2].words);
  EXPECT_EQ(read.kernels[1].localMemory[0].space, "UB");
  ASSERT_EQ(read.weights.size(), 1u);
  EXPECT_EQ(read.weights[0].shape, (std::vector<uint64_t>{3, 7}));
  EXPECT_EQ(std::memcmp(read.weights[0].data, bias.data(), bias.size() * 4), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(read.weights[0].data) % 4096, 0u);
  const NetDesc &net = read.nets[0];
  EXPECT_EQ(net.preprocess, model.nets[0].preprocess);
  const VariantDesc &variant = net.variants[0];
  EXPECT_EQ(variant.inputs[0].name, "x");
  EXPECT_EQ(variant.inputs[0].quantization.zeroPoints, std::vector<int32_t>{3});
  EXPECT_EQ(variant.program.code, model.nets[0].variants[0].program.code);
  EXPECT_EQ(variant.debugTensors[0].permutation, (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(variant.absorbed, std::vector<std::string>{"folded"});
  EXPECT_EQ(variant.hostOps, std::vector<std::string>{"node_7: strings"});
  EXPECT_TRUE((*opened)->checkAllWeights());
  EXPECT_EQ((*opened)->info().fileBytes, summary.fileBytes);
  EXPECT_EQ(summary.fileBytes, std::filesystem::file_size(path));
  EXPECT_THAT((*opened)->metadataJson(), HasSubstr("\"name\": \"bias_relu\""));
}

TEST_F(File, EqualWeightsAndKernelsAreStoredOnce) {
  std::vector<float> same = bias, other(21, 0.25f);
  model.weights.push_back({"twin", ElementType::F32, {21}, same.data(), same.size() * 4});
  model.weights.push_back({"other", ElementType::F32, {21}, other.data(), other.size() * 4});
  model.weights.push_back({"empty", ElementType::F16, {0, 4}, nullptr, 0});
  model.kernels.push_back(reluKernel("k2_twin", 3, 7));
  model.nets[0].variants[0].program.kernels[1] = 2;
  WriteSummary summary = write();
  EXPECT_EQ(summary.weightBytes, 256u); // 84 bytes each, padded to 64
  EXPECT_EQ(summary.numKernels, 2u);
  auto opened = ModelFile::open(path);
  ASSERT_TRUE(opened) << opened.error();
  const ModelDesc &read = (*opened)->model();
  EXPECT_EQ(read.weights[0].data, read.weights[1].data);
  EXPECT_NE(read.weights[0].data, read.weights[2].data);
  EXPECT_EQ(read.nets[0].variants[0].program.kernels, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(read.kernels[1].sourceOps, (std::vector<std::string>{"k1_y", "k2_twin"}));
}

TEST_F(File, LargeWeightsBeginWithALine) {
  std::deque<std::vector<float>> data; // all of them differ
  for (uint64_t floats : {1, 1024, 1023, 1040, 16, 4096}) {
    data.emplace_back(floats, float(floats));
    model.weights.push_back({"w" + std::to_string(floats), ElementType::F32, {floats}, data.back().data(), floats * 4});
  }
  write();
  auto opened = ModelFile::open(path);
  ASSERT_TRUE(opened) << opened.error();
  const std::vector<WeightDesc> &weights = (*opened)->model().weights;
  auto begin = reinterpret_cast<uintptr_t>(weights[0].data);
  std::vector<uint64_t> offsets;
  offsets.reserve(weights.size());
  for (const WeightDesc &weight : weights)
    offsets.push_back(reinterpret_cast<uintptr_t>(weight.data) - begin);
  EXPECT_EQ(offsets, (std::vector<uint64_t>{0, 128, 512, 4608, 8704, 12864, 13312}));
  for (const isa::ArchInfo &arch : isa::allArchs())
    EXPECT_EQ(512 % uint64_t(isa::chipInfo(arch.arch).lineBytes), 0u) << arch.name;
}

TEST_F(File, KeepsWhereCommandsComeFrom) {
  model.kernels[0].sources = {"", "pto.tadd at k.pto:7:3"};
  model.kernels[0].streams[1].sources = {{0, 0}, {2, 1}};
  write();
  auto opened = ModelFile::open(path);
  ASSERT_TRUE(opened) << opened.error();
  const KernelDesc &read = (*opened)->model().kernels[0];
  EXPECT_EQ(read.sources, model.kernels[0].sources);
  EXPECT_EQ(read.streams[1].sources, model.kernels[0].streams[1].sources);
  EXPECT_TRUE(read.streams[0].sources.empty());
}

TEST_F(File, BuilderRefusesABadModelAndLeavesTheOldFile) {
  write();
  std::vector<char> before = readFile(path);
  model.kernels[1].name = "k0_sum";
  auto summary = writeModel(model, path);
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error(), HasSubstr("two kernels are named 'k0_sum'"));
  EXPECT_EQ(readFile(path), before);
  model = biasReluModel(3, 7, bias);
  summary = writeModel(model, "/nonexistent-folder/x.pmodel");
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error(), HasSubstr("/nonexistent-folder/x.pmodel: cannot write"));
}

TEST_F(File, VerifierNamesWhatIsWrong) {
  struct Case {
    std::function<void(ModelDesc &)> change;
    const char *message;
  } cases[] = {
      {[](ModelDesc &m) { m.processor = "z9"; }, "kernel 'k0_sum': unknown processor 'z9'"},
      // A command of an architecture other than the file's.
      {[](ModelDesc &m) {
         isa::Tile t;
         t.type = isa::ElementType::bf16, t.rows = 1, t.cols = 16, t.validRows = 1, t.validCols = 16;
         isa::encode(isa::TAdd{t, t, t}, m.kernels[0].streams[1].words);
         m.kernels[0].streams[1].numCommands++;
       },
       "tadd: element types (bf16, bf16, bf16) are not legal on a3"},
      {[](ModelDesc &m) { m.numCore = 0; }, "number of cores must be 1 to 1024, got 0"},
      {[](ModelDesc &m) { m.kernels[0].streams[1].words[0] = 0x3ff; }, "kernel 'k0_sum': AIV V, word 0"},
      {[](ModelDesc &m) { m.kernels[0].streams[1].numCommands++; }, "commands, not"},
      {[](ModelDesc &m) { m.kernels[0].streams[1].pipe = 9; }, "unknown pipe 9"},
      {[](ModelDesc &m) { m.kernels[0].streams[1].sources = {{0, 0}}; },
       "AIV V: entry 0 of its table of sources names word 0 and source 0"},
      {[](ModelDesc &m) {
         m.kernels[0].sources = {"a"};
         m.kernels[0].streams[1].sources = {{1, 0}, {1, 0}};
       },
       "entry 1 of its table of sources"},
      {[](ModelDesc &m) { m.kernels[0].sources = {"\xff"}; }, "a text is not clean UTF-8"},
      {[](ModelDesc &m) { m.kernels[0].streams[1].coreKind = static_cast<CoreKind>(7); }, "unknown core kind 7"},
      {[](ModelDesc &m) { m.kernels[0].streams.push_back(m.kernels[0].streams[0]); }, "two streams for AIV MTE2"},
      {[](ModelDesc &m) { m.kernels[0].numArgs = 1; }, "kernel 'k0_sum'"},
      {[](ModelDesc &m) { m.kernels[0].blocks = 0; }, "runs on 0 blocks"},
      {[](ModelDesc &m) { m.kernels[0].name = "\xff"; }, "kernel name is not clean UTF-8"},
      {[](ModelDesc &m) { m.weights[0].shape = {3, 8}; }, "weight 'bias': its size does not match"},
      {[](ModelDesc &m) { m.weights[0].type = static_cast<ElementType>(99); }, "weight 'bias'"},
      {[](ModelDesc &m) { m.nets[0].variants.clear(); }, "net 'bias_relu' is empty"},
      {[](ModelDesc &m) { m.nets[0].variants[0].inputs[0].shape = {uint64_t(1) << 40, uint64_t(1) << 40}; },
       "is too large"},
      {[](ModelDesc &m) { m.nets[0].variants[0].inputs[0].quantization.scales = {INFINITY}; }, "is not finite"},
      {[](ModelDesc &m) { m.nets[0].variants[0].inputs[0].indexBound = 7; }, "an index that is not stored as i32"},
      {[](ModelDesc &m) { m.nets[0].variants[0].debugTensors[0].permutation = {1, 1}; },
       "debug tensor 'sum': bad permutation"},
      {[](ModelDesc &m) { m.nets[0].variants[0].debugTensors[0].offset = 4; },
       "debug tensor 'sum': lies outside its buffer"},
      {[](ModelDesc &m) { m.nets[0].variants[0].debugTensors[0].onnxShape = {5}; }, "another number of elements"},
      {[](ModelDesc &m) { m.nets[0].variants.push_back(m.nets[0].variants[0]); },
       "two variants take the same input shapes"},
  };
  for (const Case &test : cases) {
    ModelDesc changed = model;
    test.change(changed);
    Status status = verifyModel(changed, layoutWeights(model.weights));
    ASSERT_FALSE(status) << test.message;
    EXPECT_THAT(status.error(), HasSubstr(test.message));
  }
}

TEST_F(File, ReaderSaysWhatIsWrong) {
  write();
  std::vector<char> good = readFile(path);
  EXPECT_THAT(openBytes({}), HasSubstr("has only 0 bytes"));
  EXPECT_THAT(openBytes(std::vector<char>(100, 'x')), HasSubstr("does not begin with PTOMODEL"));
  std::vector<char> longer = good;
  longer.push_back(0);
  EXPECT_THAT(openBytes(longer), HasSubstr("is too long"));
  auto reheader = [](std::vector<char> &bytes) {
    uint64_t hash = XXH3_64bits(bytes.data(), 48);
    std::memcpy(bytes.data() + 48, &hash, 8);
  };
  std::vector<char> newer = good;
  newer[8] = 3;
  EXPECT_THAT(openBytes(newer), HasSubstr("header is damaged"));
  reheader(newer);
  EXPECT_THAT(openBytes(newer), HasSubstr("has format 3.1, this reader understands 2.x"));
  EXPECT_THAT(ModelFile::open("/nonexistent.pmodel").error(), HasSubstr("/nonexistent.pmodel: cannot open"));
  EXPECT_THAT(ModelFile::open("/tmp").error(), HasSubstr("is not a regular file"));
}

TEST_F(File, TruncationIsRefusedEverywhere) {
  write();
  std::vector<char> good = readFile(path);
  for (int part = 0; part < 20; ++part) {
    std::vector<char> cut(good.begin(), good.begin() + good.size() * part / 20);
    EXPECT_NE(openBytes(cut), "") << "at " << cut.size() << " bytes";
  }
}

TEST_F(File, EveryFlippedByteIsFoundOrPadding) {
  WriteSummary summary = write();
  std::vector<char> good = readFile(path);
  auto isPadding = [&](size_t at) {
    uint64_t sections[] = {64 + summary.metadataBytes, summary.commandBytes, summary.programBytes};
    uint64_t begin = 0;
    for (uint64_t bytes : sections) {
      if (at < begin + bytes)
        return false;
      begin = (begin + bytes + 4095) / 4096 * 4096;
      if (at < begin)
        return true;
    }
    return at >= begin + bias.size() * 4;
  };
  std::mt19937 random(7);
  for (int flip = 0; flip < 500; ++flip) {
    size_t at = random() % good.size();
    std::vector<char> bad = good;
    bad[at] ^= char(1 + random() % 255);
    writeFile(path, bad);
    auto file = ModelFile::open(path);
    bool found = !file || !(*file)->checkAllWeights();
    EXPECT_EQ(found, !isPadding(at)) << "byte " << at;
  }
}

void mendHashes(std::vector<char> &bytes, uint64_t metadataBytes) {
  uint64_t hash = XXH3_64bits(bytes.data() + 64, metadataBytes);
  std::memcpy(bytes.data() + 32, &hash, 8);
  hash = XXH3_64bits(bytes.data(), 48);
  std::memcpy(bytes.data() + 48, &hash, 8);
}

/// FlatBuffers' verifier does not check it; found by PModelFuzz.
TEST_F(File, AVectorThatIsNotAlignedIsRefused) {
  WriteSummary summary = write();
  auto bytes = readFile(path);
  auto word = [&](size_t at) {
    uint32_t value;
    std::memcpy(&value, bytes.data() + at, 4);
    return value;
  };
  // The offset that leads to a shape of {3, 7} now leads to its first number, whose 3 is taken for the length.
  size_t moved = 0;
  for (size_t at = 64; at + 20 <= 64 + summary.metadataBytes; at += 4)
    if (word(at) == 2 && word(at + 4) == 3 && word(at + 8) == 0 && word(at + 12) == 7 && word(at + 16) == 0)
      for (size_t from = 64; from < at; from += 4)
        if (from + word(from) == at) {
          uint32_t offset = word(from) + 4;
          std::memcpy(bytes.data() + from, &offset, 4);
          ++moved;
        }
  ASSERT_GT(moved, 0u);
  mendHashes(bytes, summary.metadataBytes);
  EXPECT_THAT(openBytes(bytes), HasSubstr("a vector is not aligned"));
}

/// Damage that a forger covers with fresh hashes must be found by the checks behind them.
TEST_F(File, ForgedHashesDoNotHelp) {
  WriteSummary summary = write();
  std::vector<char> good = readFile(path);
  std::mt19937 random(11);
  const char *full = std::getenv("PTO_MLIR_FULL_TESTS");
  int flips = full && *full == '1' ? 20000 : 500;
  int refused = 0;
  for (int flip = 0; flip < flips; ++flip) {
    std::vector<char> bad = good;
    for (int k = 0; k < 2; ++k)
      bad[64 + random() % summary.metadataBytes] ^= char(1 + random() % 255);
    mendHashes(bad, summary.metadataBytes);
    writeFile(path, bad);
    auto file = ModelFile::open(path);
    refused += !file;
    if (file) // every file that opens can be printed and walked
      EXPECT_FALSE((*file)->metadataJson().empty());
  }
  EXPECT_GT(refused, flips / 2);
}

} // namespace
