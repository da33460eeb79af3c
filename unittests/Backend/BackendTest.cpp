// Loading of processors: the working case, and every way to fail.
#include "pto_mlir/Backend/Backend.h"
#include "pto_mlir/Backend/CmdStorer.h"
#include "pto_mlir/ISA/Codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace pto_mlir;
using namespace pto_mlir::backend;
using testing::HasSubstr;

namespace {

std::string besideTest(const std::string &file) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / file).string();
}

TEST(Backend, LoadsA3Once) {
  std::vector<const Processor *> seen(8);
  std::vector<std::thread> threads;
  threads.reserve(seen.size());
  for (auto &slot : seen)
    threads.emplace_back([&slot] {
      LoadResult result = Backend::instance().load("a3");
      EXPECT_EQ(result.error, "");
      slot = result.processor;
    });
  for (auto &t : threads)
    t.join();
  ASSERT_NE(seen[0], nullptr);
  for (const Processor *p : seen)
    EXPECT_EQ(p, seen[0]);
  EXPECT_EQ(seen[0]->name, "a3");
  EXPECT_EQ(seen[0]->arch, isa::findArch("a3"));
}

TEST(Backend, Refuses) {
  auto error = [](const char *name, const std::string &path = "") {
    LoadResult result = Backend::instance().load(name, path);
    EXPECT_EQ(result.processor, nullptr);
    return result.error;
  };
  EXPECT_THAT(error("a9"), HasSubstr("processor 'a9': is not known"));
  LoadResult a3 = Backend::instance().load("a3");
  ASSERT_NE(a3.processor, nullptr) << a3.error;
  EXPECT_THAT(error("a5", a3.processor->libraryPath), HasSubstr("is for processor 'a3'"));
  EXPECT_THAT(error("a3", "/nowhere/libx.so"), HasSubstr("/nowhere/libx.so"));
  EXPECT_THAT(error("a3", besideTest("test_encoder_incomplete.so")),
              HasSubstr("test_encoder_incomplete.so lacks the function pto_li"));
  EXPECT_THAT(error("a3", besideTest("test_encoder_foreign.so")),
              HasSubstr("was built from another instruction table"));
  std::string text = besideTest("not_a_library.so");
  std::ofstream(text) << "text";
  EXPECT_THAT(error("a3", text), HasSubstr("not_a_library.so"));
  std::filesystem::remove(text);
}

// From an instruction to a stored command, through the function of the encoder library.
TEST(Backend, EncodesIntoAStorer) {
  LoadResult loaded = Backend::instance().load("a3");
  ASSERT_NE(loaded.processor, nullptr) << loaded.error;
  VectorDumpStorerDecorator storer(std::make_shared<ConcreteCmdStorer>());
  PtoEncodeContext context{};
  context.user = &storer;
  context.core_kind = unsigned(isa::CoreKind::AIV);
  context.pipe = unsigned(isa::Pipe::V);
  context.store_cmd = [](void *user, int engine, const uint32_t *cmd, size_t n, CMD_ID_NODE *node, int port) {
    return static_cast<VectorDumpStorerDecorator *>(user)->store_cmd(engine, cmd, n, node, port) ? 1 : 0;
  };
  CMD_ID_NODE node{};
  isa::Tile tile{isa::ElementType::f32, isa::Layout::ND, isa::Pad::null, 0, 16, 64, 16, 64};
  isa::TAdd add{tile, tile, tile};
  EXPECT_EQ(loaded.processor->functions.dl_pto_tadd(&context, &add, &node), 0);
  EXPECT_EQ(callEncoder(loaded.processor->functions, &context, isa::Mov{1, 2}, &node), 0);
  EXPECT_EQ(loaded.processor->functions.dl_pto_sync_all(&context, &node), 0);
  storer.store_cmd_end(0);
  std::vector<uint32_t> expected;
  isa::encode(add, expected);
  isa::encode(isa::Mov{1, 2}, expected);
  isa::encode(isa::Barrier{isa::Pipe::ALL}, expected);
  EXPECT_EQ(storer.streams().at({PTO_ENGINE_AIV + 1, 0}), expected);
  EXPECT_EQ(node.cmd_id[PTO_ENGINE_AIV + 1], 3u);

  EXPECT_EQ(callEncoder(loaded.processor->functions, &context, isa::Mov{1, int64_t(1) << 40}, &node), 1);
  EXPECT_THAT(context.error, HasSubstr("'src' does not fit"));
  EXPECT_EQ(callEncoder(loaded.processor->functions, &context, isa::TMatmul{}, &node), 1);
  EXPECT_THAT(context.error, HasSubstr("has no engine"));
}

} // namespace
