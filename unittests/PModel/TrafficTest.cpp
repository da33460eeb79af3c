// Global memory traffic, counted from command streams.
#include "TestModel.h"

#include "pto_mlir/ISA/Codec.h"
#include "pto_mlir/PModel/Traffic.h"

#include <gtest/gtest.h>

using namespace pto_mlir;
using namespace pto_mlir::pmodel;
using isa::Value;

namespace {

TEST(Traffic, CountsEachArgumentAndCore) {
  auto traffic = measureTraffic(pto_mlir::testing::addKernel("k", 5, 12, 2));
  ASSERT_TRUE(traffic) << traffic.error();
  ASSERT_EQ(traffic->arguments.size(), 3u);
  EXPECT_EQ(traffic->arguments[0].read, 5u * 12 * 4);
  EXPECT_EQ(traffic->arguments[1].read, 5u * 12 * 4);
  EXPECT_EQ(traffic->arguments[2].read, 0u);
  EXPECT_EQ(traffic->arguments[2].written, 5u * 12 * 4);
  EXPECT_EQ(traffic->read(), 480u);
  EXPECT_EQ(traffic->written(), 240u);
  // Two blocks of two cores process 2, 1, 1 and 1 rows.
  EXPECT_EQ(traffic->cores, (std::vector<uint64_t>{288, 144, 144, 144}));
  EXPECT_DOUBLE_EQ(traffic->imbalance(), 1.6);
}

TEST(Traffic, SumsUpAProgram) {
  std::vector<float> bias(3 * 8, 1.0f);
  ModelDesc model = pto_mlir::testing::biasReluModel(3, 8, bias);
  auto kernels = measureTraffic(model);
  ASSERT_TRUE(kernels) << kernels.error();
  auto traffic = measureTraffic(model.nets[0].variants[0], *kernels);
  ASSERT_TRUE(traffic) << traffic.error();
  constexpr uint64_t tensor = 3 * 8 * 4;
  EXPECT_EQ(traffic->read, 3 * tensor);
  EXPECT_EQ(traffic->written, 2 * tensor);
  // x, y and the bias once; the intermediate sum is not part of the graph's boundary.
  EXPECT_EQ(traffic->ideal, 3 * tensor);
  ASSERT_EQ(traffic->launches.size(), 2u);
  EXPECT_EQ(traffic->launches[0].least, 3 * tensor);
  EXPECT_EQ(traffic->launches[1].least, 2 * tensor);
  // Only the rows of a table that are read are required.
  (*kernels)[0].arguments[1].read = 8;
  traffic = measureTraffic(model.nets[0].variants[0], *kernels);
  ASSERT_TRUE(traffic) << traffic.error();
  EXPECT_EQ(traffic->ideal, 2 * tensor + 8);
  EXPECT_EQ(traffic->launches[0].least, 2 * tensor + 8);
}

TEST(Traffic, CountsCubeAndVectorCoresApart) {
  KernelTraffic traffic;
  traffic.cores = {40, 40, 10, 10, 0, 0};
  traffic.cubeCores = 2;
  // (2 x 40 + 4 x 10) / 100
  EXPECT_DOUBLE_EQ(traffic.imbalance(), 1.2);
}

TEST(Traffic, IdealIgnoresIntermediates) {
  std::vector<float> bias(3 * 8, 1.0f);
  ModelDesc model = pto_mlir::testing::biasReluModel(3, 8, bias);
  auto kernels = measureTraffic(model);
  ASSERT_TRUE(kernels) << kernels.error();
  // Traffic through the workspace and between cores counts as traffic, but not as ideal traffic.
  constexpr uint64_t tensor = 3 * 8 * 4;
  (*kernels)[0].cubeCores = 1;
  (*kernels)[0].arguments[2].written = (*kernels)[0].arguments[2].read = 2 * tensor;
  auto traffic = measureTraffic(model.nets[0].variants[0], *kernels);
  ASSERT_TRUE(traffic) << traffic.error();
  EXPECT_EQ(traffic->ideal, 3 * tensor);
  EXPECT_EQ(traffic->read + traffic->written, 8 * tensor);
}

/// for r0 in 0..10 step 3: if (r0 != 6) load 1 x (r0 + 1) of i8, where r0 is passed through the FIFO of S.
TEST(Traffic, FollowsJumpsAndValuesFromS) {
  KernelDesc kernel;
  kernel.name = "k";
  kernel.numArgs = 1;
  StreamDesc s, mte2;
  s.pipe = uint8_t(isa::Pipe::S);
  mte2.pipe = uint8_t(isa::Pipe::MTE2);
  isa::Loop loop;
  loop.iv = 0, loop.lb = Value(0), loop.ub = Value(10), loop.step = Value(3);
  isa::Push push;
  push.value = Value::reg(0), push.engine = isa::Pipe::MTE2;
  encode(loop, s.words), encode(push, s.words), encode(isa::End(), s.words);

  encode(loop, mte2.words);
  isa::Pop pop;
  pop.dst = 1, pop.engine = isa::Pipe::MTE2;
  encode(pop, mte2.words);
  isa::Cmp cmp;
  cmp.dst = 2, cmp.mode = isa::CompareMode(1), cmp.lhs = Value::reg(1), cmp.rhs = Value(6);
  encode(cmp, mte2.words);
  isa::Add add;
  add.dst = 1, add.lhs = Value::reg(1), add.rhs = Value(1);
  encode(add, mte2.words);
  isa::TLoad load;
  load.dst.type = load.src.type = isa::ElementType::i8;
  load.dst.rows = 1, load.dst.cols = 32, load.dst.validRows = Value(1), load.dst.validCols = Value::reg(1);
  load.src.rank = 2;
  load.src.sizes[0] = Value(1), load.src.strides[0] = Value(1), load.src.sizes[1] = Value::reg(1),
  load.src.strides[1] = Value(1);
  std::vector<uint32_t> words;
  encode(load, words);
  isa::SkipIfZero skip;
  skip.cond = Value::reg(2), skip.words = Value(int64_t(words.size()));
  encode(skip, mte2.words);
  mte2.words.insert(mte2.words.end(), words.begin(), words.end());
  encode(isa::End(), mte2.words);
  kernel.streams = {mte2, s};
  auto traffic = measureTraffic(kernel);
  ASSERT_TRUE(traffic) << traffic.error();
  // 0 + 1, 3 + 1 and 9 + 1 bytes on each of two cores.
  EXPECT_EQ(traffic->read(), 2u * (1 + 4 + 10));
}

TEST(Traffic, RefusesEndlessKernels) {
  KernelDesc kernel;
  kernel.name = "k";
  StreamDesc mte2;
  mte2.pipe = uint8_t(isa::Pipe::MTE2);
  isa::Loop loop;
  loop.iv = 0, loop.lb = Value(0), loop.ub = Value(1 << 30), loop.step = Value(0);
  encode(loop, mte2.words);
  isa::TLoad load;
  load.dst.rows = 1, load.dst.cols = 8, load.dst.validRows = Value(1), load.dst.validCols = Value(8);
  load.src.rank = 1, load.src.sizes[0] = Value(8), load.src.strides[0] = Value(1);
  encode(load, mte2.words);
  encode(isa::End(), mte2.words);
  kernel.streams = {mte2};
  kernel.numArgs = 1;
  auto traffic = measureTraffic(kernel);
  ASSERT_FALSE(traffic);
  EXPECT_EQ(traffic.error(), "a loop has a step below 1");
}

} // namespace
