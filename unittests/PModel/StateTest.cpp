// Groups of state in a file: what comes back, what the verifier refuses, how files are combined.
#include "TestModel.h"
#include "pto_mlir/PModel/Assembler.h"
#include "pto_mlir/PModel/Program.h"
#include "pto_mlir/PModel/Reader.h"
#include "pto_mlir/PModel/Report.h"
#include "pto_mlir/PModel/Traffic.h"
#include "pto_mlir/PModel/Verifier.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>

using namespace pto_mlir;
using namespace pto_mlir::pmodel;
using namespace pto_mlir::testing;
using ::testing::HasSubstr;

namespace {

const std::vector<float> kBegin(2 * 5, 1.0f);

struct StateFile : ::testing::Test {
  std::string path = temporaryPath("state.pmodel"), other = temporaryPath("state2.pmodel");
  void TearDown() override {
    std::filesystem::remove(path);
    std::filesystem::remove(other);
  }
};

TEST_F(StateFile, EverythingComesBack) {
  ModelDesc model = accumulatorModel(2, 5, kBegin);
  ASSERT_TRUE(writeModel(model, path));
  auto file = ModelFile::open(path);
  ASSERT_TRUE(file) << file.error();
  EXPECT_EQ((*file)->info().formatMinor, 2u);
  EXPECT_THAT((*file)->metadataJson(), HasSubstr("\"min_reader_minor\": 2"));
  const ModelDesc &read = (*file)->model();
  EXPECT_EQ(read.states, model.states);
  ASSERT_TRUE(read.nets[0].variants[0].state);
  EXPECT_EQ(read.nets[0].variants[0].state->rows, 1u);
  EXPECT_EQ(read.nets[0].variants[0].state->limit, 3u);
}

TEST_F(StateFile, AFileWithoutStateIsMarkedAsBefore) {
  ASSERT_TRUE(writeModel(biasReluModel(2, 5, kBegin), path));
  auto file = ModelFile::open(path);
  ASSERT_TRUE(file) << file.error();
  EXPECT_EQ((*file)->info().formatMinor, 1u);
  EXPECT_THAT((*file)->metadataJson(), HasSubstr("\"min_reader_minor\": 0"));
}

TEST_F(StateFile, ReportsAndTrafficCountIt) {
  ASSERT_TRUE(writeModel(accumulatorModel(2, 5, kBegin), path));
  auto file = ModelFile::open(path);
  ASSERT_TRUE(file) << file.error();
  std::string info = infoReport(**file);
  EXPECT_THAT(info, HasSubstr("state          group 'memory', adds 1 position(s) up to 3"));
  EXPECT_THAT(info, HasSubstr("total  f32   2x5  whole, in two places, new value 'new_total'"));
  EXPECT_THAT(info, HasSubstr("last   f32   2x5  whole, begins as weight 'begin'"));
  // Reads the total twice, writes the total and the last input.
  EXPECT_THAT(info, HasSubstr("state traffic  80 bytes read, 80 bytes written per inference"));
  EXPECT_THAT(disassembleProgram((*file)->model(), (*file)->model().nets[0].variants[0]), HasSubstr("state[512 +40]"));
}

/// The message of the verifier about the accumulator after a change.
std::string verifyAfter(const std::function<void(ModelDesc &, StateGroupDesc &, VariantDesc &)> &change) {
  ModelDesc model = accumulatorModel(2, 5, kBegin);
  change(model, model.states[0], model.nets[0].variants[0]);
  Status status = verifyModel(model, layoutWeights(model.weights));
  return status ? "" : status.error();
}

TEST(State, VerifierFindsEveryMisuse) {
  using M = ModelDesc;
  using G = StateGroupDesc;
  using V = VariantDesc;
  EXPECT_EQ(verifyAfter([](M &, G &, V &) {}), "");
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.name = ""; }), HasSubstr("group of state without a name"));
  EXPECT_THAT(verifyAfter([](M &m, G &g, V &) { m.states.push_back(g); }),
              HasSubstr("two group of states are named 'memory'"));
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.bytes = 100; }), HasSubstr("has 100 bytes"));
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.bytes -= 512; }), HasSubstr("'last': lies outside its group"));
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.tensors[1].name = "total"; }), HasSubstr("are named 'total'"));
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.tensors[1].type = ElementType(77); }), HasSubstr("bad element type"));
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.tensors[0].shape = {uint64_t(1) << 62, 8}; }),
              HasSubstr("bad element type or shape"));
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.tensors[0].shape = {0, 5}; }), HasSubstr("bad element type or shape"));
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.tensors[1].offset += 64; }), HasSubstr("expects a multiple of 512"));
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.tensors[0].offset = 0; }), HasSubstr("expects a multiple of 512"));
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.tensors[1].offset = 1024; }), HasSubstr("overlaps 'total'"));
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.tensors[1].offset = UINT64_MAX - 511; }),
              HasSubstr("lies outside its group"));
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.tensors[0].places = 3; }), HasSubstr("has 3 places, expects 1 or 2"));
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.tensors[0].sequenceAxis = 0; }),
              HasSubstr("has two places and an axis"));
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.tensors[1].sequenceAxis = 2; }), HasSubstr("bad axis of positions"));
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.tensors[1].initial = "nothing"; }),
              HasSubstr("'nothing' is not a weight of the file"));
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.tensors[1].type = ElementType::I32; }),
              HasSubstr("'begin' has another type or shape"));
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.tensors[1].output = "\x01"; }), HasSubstr("not clean UTF-8"));
  EXPECT_THAT(verifyAfter([](M &, G &, V &v) { v.state->group = 1; }),
              HasSubstr("group of state 1, which does not exist"));
  EXPECT_THAT(verifyAfter([](M &, G &, V &v) { v.state->rows = 4; }),
              HasSubstr("adds 4 positions to a state of at most 3"));
  EXPECT_THAT(verifyAfter([](M &, G &, V &v) { v.state.reset(); }), HasSubstr("holds no buffer"));
  // The second place is the program's, so a tensor without one makes its arguments wrong.
  EXPECT_THAT(verifyAfter([](M &, G &g, V &) { g.tensors[0].places = 1; }), HasSubstr("lie in no tensor of the state"));
  EXPECT_THAT(verifyAfter([](M &m, G &, V &v) {
                V second = v;
                for (auto *list : {&second.inputs, &second.outputs})
                  list->front().shape = {1, 10};
                m.states.push_back(m.states[0]);
                m.states[1].name = "another";
                second.state->group = 1;
                m.nets[0].variants.push_back(second);
              }),
              HasSubstr("its variants use different groups of state"));
}

TEST_F(StateFile, NetsOfOneGroupShareIt) {
  std::vector<float> begin(2 * 5, 2.0f);
  ModelDesc model = accumulatorModel(2, 5, kBegin), second = accumulatorModel(2, 5, kBegin);
  second.nets[0].name = "second";
  ASSERT_TRUE(writeModel(model, path));
  ASSERT_TRUE(writeModel(second, other));
  auto written = combineModels({path, other}, path);
  ASSERT_TRUE(written) << written.error();
  auto file = ModelFile::open(path);
  ASSERT_TRUE(file) << file.error();
  EXPECT_EQ((*file)->model().nets.size(), 2u);
  EXPECT_EQ((*file)->model().states, model.states);

  second.states[0].tensors[1].initial.clear();
  second.nets[0].name = "third";
  ASSERT_TRUE(writeModel(second, other));
  EXPECT_THAT(combineModels({path, other}, path).error(), HasSubstr("the group of state 'memory' differs"));
}

} // namespace
