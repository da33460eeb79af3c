// Command storers: routing, ports, virtual engines; decorators alone, stacked and disabled.
#include "pto_mlir/Backend/CmdStorer.h"
#include "pto_mlir/ISA/Codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace pto_mlir;
using namespace pto_mlir::backend;
using testing::HasSubstr;

namespace {

constexpr int kV = PTO_ENGINE_AIV + int(isa::Pipe::V), kMTE2 = PTO_ENGINE_AIV + int(isa::Pipe::MTE2);

template <class I> std::vector<uint32_t> words(const I &insn) {
  std::vector<uint32_t> result;
  isa::encode(insn, result);
  return result;
}
std::vector<uint32_t> add() {
  isa::Tile tile{isa::ElementType::f32, isa::Layout::ND, isa::Pad::null, 0, 16, 64, 16, 64};
  return words(isa::TAdd{tile, tile, tile});
}
std::vector<uint32_t> mov() { return words(isa::Mov{1, 2}); }

std::string store(CmdStorerInterface &storer, int engine, const std::vector<uint32_t> &cmd, int port = 0,
                  CMD_ID_NODE *node = nullptr) {
  return storer.store_cmd(engine, cmd.data(), cmd.size(), node, port).value_or("");
}
std::vector<uint32_t> operator+(std::vector<uint32_t> a, const std::vector<uint32_t> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(CmdStorer, RoutesAndCounts) {
  ConcreteCmdStorer storer;
  CMD_ID_NODE node{};
  EXPECT_EQ(store(storer, kV, add(), 0, &node), "");
  EXPECT_EQ(store(storer, kV, mov(), 0, &node), "");
  EXPECT_EQ(store(storer, kMTE2, mov(), 0, &node), "");
  EXPECT_EQ(node.cmd_id[kV], 2u);
  EXPECT_EQ(node.cmd_id[kMTE2], 1u);
  EXPECT_EQ(storer.get({kV, 0})->get_cmds(), add() + mov());
  EXPECT_TRUE(storer.get({kV, 0})->get_cmds().empty());
  EXPECT_EQ(storer.get({kMTE2, 0})->get_cmds(), mov());
}

TEST(CmdStorer, RefusesForeignAndBrokenCommands) {
  ConcreteCmdStorer storer;
  EXPECT_THAT(store(storer, kMTE2, add()), HasSubstr("AIV MTE2: tadd belongs to V"));
  EXPECT_THAT(store(storer, kV, {0xffffffff, 0}), HasSubstr("is no instruction"));
  EXPECT_THAT(store(storer, kV, mov() + mov()), HasSubstr("holds an instruction of 3"));
  EXPECT_TRUE(storer.get({kV, 0})->get_cmds().empty());
  storer.store_cmd_end(0);
  EXPECT_THAT(store(storer, kV, add()), HasSubstr("after the end of the stream"));
}

TEST(CmdStorer, Ports) {
  ConcreteCmdStorer storer;
  EXPECT_EQ(store(storer, PTO_ENGINE_CDMA, {1, 2, 3}, 7), "");
  EXPECT_EQ(storer.get({PTO_ENGINE_CDMA, 7})->get_cmds(), (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_TRUE(storer.get({PTO_ENGINE_CDMA, 0})->get_cmds().empty());
  EXPECT_THAT(store(storer, PTO_ENGINE_CDMA, {1}, 8), HasSubstr("CDMA has no port 8"));
  EXPECT_THAT(store(storer, PTO_ENGINE_CDMA, {1}, -1), HasSubstr("CDMA has no port -1"));
  EXPECT_THAT(store(storer, kV, add(), 1), HasSubstr("has no ports, got port 1"));
}

TEST(CmdStorer, VirtualAndUnknownEngines) {
  ConcreteCmdStorer storer;
  CMD_ID_NODE node{};
  EXPECT_EQ(store(storer, PTO_ENGINE_VDMA_AIV, mov(), 0, &node), "");
  EXPECT_EQ(store(storer, PTO_ENGINE_VDMA_AIC, mov(), 0, &node), "");
  EXPECT_EQ(node.cmd_id[kMTE2], 1u);
  EXPECT_EQ(storer.get({kMTE2, 0})->get_cmds(), mov());
  EXPECT_EQ(storer.get({PTO_ENGINE_AIC + int(isa::Pipe::MTE2), 0})->get_cmds(), mov());
  for (int engine : {-1, 7, 0x1a, 0x12, 0x20, 0x42, 0x5f, 1 << 20})
    EXPECT_THAT(store(storer, engine, mov()), HasSubstr("unknown engine")) << engine;
  EXPECT_EQ(storer.get({99, 0}), nullptr);
}

TEST(Decorators, VectorDumpAlone) {
  auto concrete = std::make_shared<ConcreteCmdStorer>();
  VectorDumpStorerDecorator dump(concrete);
  EXPECT_EQ(store(dump, kV, add()), "");
  EXPECT_EQ(dump.streams().at({kV, 0}), add());
  EXPECT_TRUE(concrete->get({kV, 0})->get_cmds().empty());
  dump.setEnabled(false); // dry run: words stay in the component
  EXPECT_EQ(store(dump, kV, mov()), "");
  EXPECT_EQ(dump.streams().at({kV, 0}), add());
  EXPECT_EQ(concrete->get({kV, 0})->get_cmds(), mov());
}

TEST(Decorators, StatisticsAlone) {
  StatisticsStorerDecorator statistics(std::make_shared<ConcreteCmdStorer>());
  store(statistics, kV, add());
  store(statistics, kV, mov());
  store(statistics, kV, mov());
  EXPECT_TRUE(statistics.statistics().at({kV, 0}).byMnemonic.empty());
  statistics.store_cmd_end(0);
  const EngineStatistics &v = statistics.statistics().at({kV, 0});
  EXPECT_EQ(v.commands, 3u);
  EXPECT_EQ(v.words, add().size() + 2 * mov().size());
  EXPECT_EQ(v.byMnemonic.at("mov"), 2u);
}

TEST(Decorators, TraceAlone) {
  TraceStorerDecorator trace(std::make_shared<ConcreteCmdStorer>());
  store(trace, kV, mov());
  EXPECT_EQ(trace.texts().at({kV, 0}), "");
  trace.store_cmd_end(0);
  EXPECT_EQ(trace.texts().at({kV, 0}), "  mov r1, src=2\n");
}

TEST(Decorators, Stacked) {
  auto concrete = std::make_shared<ConcreteCmdStorer>();
  auto dump = std::make_shared<VectorDumpStorerDecorator>(concrete);
  auto statistics = std::make_shared<StatisticsStorerDecorator>(dump);
  TraceStorerDecorator trace(statistics);
  EXPECT_EQ(store(trace, kV, add()), "");
  EXPECT_EQ(store(trace, PTO_ENGINE_VDMA_AIV, mov()), "");
  EXPECT_NE(store(trace, kV, {0, 0}), "");
  trace.store_cmd_end(5);
  EXPECT_EQ(dump->streams().at({kV, 0}), add());
  EXPECT_EQ(dump->streams().at({kMTE2, 0}), mov());
  EXPECT_EQ(statistics->statistics().at({kV, 0}).byMnemonic.at("tadd"), 1u);
  EXPECT_THAT(trace.texts().at({kV, 0}), HasSubstr("tadd UB[0]"));
  // The end event reaches the concrete storer through all decorators.
  auto v = std::dynamic_pointer_cast<EngineStorer>(concrete->get({kV, 0}));
  ASSERT_TRUE(v);
  EXPECT_EQ(v->dependency(), 5u);
  EXPECT_THAT(store(trace, kV, add()), HasSubstr("after the end"));
}

TEST(Decorators, DisabledInTheMiddle) {
  auto dump = std::make_shared<VectorDumpStorerDecorator>(std::make_shared<ConcreteCmdStorer>());
  auto statistics = std::make_shared<StatisticsStorerDecorator>(dump);
  statistics->setEnabled(false);
  TraceStorerDecorator trace(statistics);
  store(trace, kV, mov());
  trace.store_cmd_end(0);
  EXPECT_EQ(dump->streams().at({kV, 0}), mov());
  EXPECT_EQ(statistics->statistics().at({kV, 0}).commands, 0u);
  EXPECT_EQ(trace.texts().at({kV, 0}), "  mov r1, src=2\n");
}

} // namespace
