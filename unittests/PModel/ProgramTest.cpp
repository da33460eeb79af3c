#include "pto_mlir/PModel/Program.h"
#include "TestModel.h"
#include "pto_mlir/PModel/Verifier.h"

#include <gmock/gmock.h>

#include <functional>

using namespace pto_mlir;
using namespace pto_mlir::pmodel;
using ::testing::HasSubstr;

namespace {

TEST(Program, InstructionsSurviveEncodingAndDecoding) {
  ProgramWriter writer;
  writer.alloc(3, uint64_t(1) << 40);
  writer.callDevice(300, {{0, 0, 64}, {3, 1u << 20, uint64_t(5) << 33}});
  std::vector<bytecode::Size> scalars = {{{{-12, {0, 3}}, {1, {}}}}, {}};
  writer.callDevice(300, {{0, 0, 64}}, scalars);
  writer.callHost(7, {1, 200});
  writer.wait();
  writer.free(3);
  writer.ret();
  auto code = writer.take();
  auto program = decodeProgram(code);
  ASSERT_TRUE(program) << program.error();
  ASSERT_EQ(program->size(), 7u);
  EXPECT_EQ((*program)[0].bytes, uint64_t(1) << 40);
  EXPECT_EQ((*program)[1].kernel, 300u);
  EXPECT_EQ((*program)[1].arguments[1].bytes, uint64_t(5) << 33);
  EXPECT_EQ((*program)[1].opcode, VMOpcode::CallDevice);
  EXPECT_EQ((*program)[2].opcode, VMOpcode::CallDeviceScalars);
  EXPECT_EQ((*program)[2].scalars, scalars);
  EXPECT_EQ((*program)[3].slots, (std::vector<uint32_t>{1, 200}));
  ProgramWriter again;
  for (const VMInstruction &insn : *program)
    again.append(insn);
  EXPECT_EQ(again.take(), code);
}

TEST(Program, BadCodeIsRefusedWithItsPlace) {
  struct Case {
    std::vector<uint8_t> code;
    const char *message;
  } cases[] = {
      {{}, "program is empty"},
      {{0x74}, "byte 0: program ends without return"},
      {{0x74, 0x99, 0x7f}, "byte 1: unknown opcode 153"},
      {{0x7f, 0x7f}, "byte 0: code after return"},
      {{0x70, 0x83}, "byte 0: bad operand of alloc"},
      {{0x71, 0x80, 0x00, 0x7f}, "byte 0: bad operand of free"},                                // 0 in two bytes
      {{0x71, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x7f}, "byte 0: bad operand of free"},              // slot of 35 bits
      {{0x72, 0x00, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x7f}, "byte 0: bad operand of call_device"}, // 2^32 - 1 arguments
      {{0x75, 0x00, 0x00, 0x01, 0x7f, 0x7f}, "byte 0: bad operand of call_device_scalars"},     // 127 terms
      {{0x70, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0x7f},
       "bad operand of alloc"}, // 65 bits
  };
  for (const Case &test : cases) {
    auto program = decodeProgram(test.code);
    ASSERT_FALSE(program);
    EXPECT_THAT(program.error(), HasSubstr(test.message));
  }
}

/// Verifies the bias-relu model with another program; returns the message.
std::string verifyWith(const std::function<void(ProgramWriter &, const EntrySlots &)> &write,
                       const std::function<void(VariantDesc &)> &change = {}) {
  static const std::vector<float> bias(2 * 5, 1.0f);
  ModelDesc model = pto_mlir::testing::biasReluModel(2, 5, bias);
  VariantDesc &variant = model.nets[0].variants[0];
  ProgramWriter writer;
  write(writer, EntrySlots(variant));
  variant.program.code = writer.take();
  if (change)
    change(variant);
  Status status = verifyModel(model, layoutWeights(model.weights));
  return status ? "" : status.error();
}

TEST(Program, VerifierFindsEveryMisuse) {
  using W = ProgramWriter;
  using S = EntrySlots;
  auto good = [](W &w, const S &s) {
    w.alloc(s.firstFree(), 40);
    w.callDevice(1, {{s.input(0), 0, 40}, {s.output(0), 0, 40}});
    w.ret();
  };
  EXPECT_EQ(verifyWith(good), "");
  EXPECT_THAT(verifyWith([](W &w, const S &) { w.ret(); }), HasSubstr("allocates no workspace of 40 bytes"));
  EXPECT_THAT(verifyWith([](W &w, const S &s) { w.alloc(s.firstFree(), 41), w.ret(); }),
              HasSubstr("the first alloc has 41 bytes"));
  EXPECT_THAT(verifyWith([](W &w, const S &s) { w.alloc(s.output(0), 40), w.ret(); }), HasSubstr("is not free for it"));
  EXPECT_THAT(verifyWith([](W &w, const S &s) { w.alloc(9, 40), w.ret(); }), HasSubstr("is not free for it"));
  EXPECT_THAT(verifyWith([](W &w, const S &s) { w.alloc(s.firstFree(), 40), w.alloc(s.firstFree(), 40), w.ret(); }),
              HasSubstr("which holds a buffer"));
  EXPECT_THAT(verifyWith([](W &w, const S &s) { w.free(s.firstFree()), w.ret(); }), HasSubstr("holds no allocation"));
  EXPECT_THAT(verifyWith([](W &w, const S &s) { w.free(s.input(0)), w.ret(); }), HasSubstr("holds no allocation"));
  auto call = [](VMArgument argument) {
    return verifyWith([&](W &w, const S &s) {
      w.callDevice(1, {{s.input(0), 0, 40}, argument});
      w.alloc(s.firstFree(), 40);
      w.ret();
    });
  };
  EXPECT_EQ(call({1, 8, 32}), "");
  EXPECT_THAT(call({1, 8, 33}), HasSubstr("kernel 'k1_y' gets bytes 8 +33 of slot 1, which has 40 bytes"));
  EXPECT_THAT(call({1, UINT64_MAX, 2}), HasSubstr("which has 40 bytes"));
  EXPECT_THAT(call({3, 0, 4}), HasSubstr("slot 3, which holds no buffer"));
  EXPECT_THAT(call({77, 0, 4}), HasSubstr("slot 77, which holds no buffer"));
  EXPECT_EQ(call({2, 4, 36}), "");
  EXPECT_THAT(call({2, 4, 40}), HasSubstr("lie in no weight")); // the section is padded to 64 bytes
  EXPECT_THAT(verifyWith([](W &w, const S &) { w.callDevice(2, {}), w.ret(); }),
              HasSubstr("kernel 2, which does not exist"));
  EXPECT_THAT(verifyWith([](W &w, const S &) { w.callDevice(0, {}), w.ret(); }),
              HasSubstr("'k0_sum' takes 3 arguments, got 0"));
  EXPECT_THAT(verifyWith([](W &w, const S &) {
                VMInstruction add;
                add.opcode = VMOpcode::IAdd;
                w.append(add), w.ret();
              }),
              HasSubstr("a net's program has no 'iadd'"));
  EXPECT_THAT(verifyWith(good, [](VariantDesc &v) { v.program.numSlots = 2; }), HasSubstr("has 2 slots, expects 3 to"));
  EXPECT_THAT(verifyWith(good, [](VariantDesc &v) { v.program.target = "a5"; }),
              HasSubstr("is for 'a5', the model is for 'a3'"));
  EXPECT_THAT(verifyWith(good, [](VariantDesc &v) { v.program.kernels[0] = 2; }),
              HasSubstr("kernel index 2 does not exist"));
}

TEST(Program, TasksAreVerified) {
  auto verifyTasks = [](auto change) {
    return verifyWith(
        [](ProgramWriter &w, const EntrySlots &s) {
          w.alloc(s.firstFree(), 40);
          w.callDevice(1, {{s.input(0), 0, 40}, {s.output(0), 0, 40}});
          w.callDevice(1, {{s.input(0), 0, 40}, {s.output(0), 0, 40}});
          w.ret();
        },
        [&](VariantDesc &variant) {
          ProgramDesc &p = variant.program;
          p.places = {"f.py:1:2"};
          p.launchPlaces = {0, 0}, p.launchScopes = {1, 1}, p.launchTasks = {1, 3}, p.taskEdges = {1, 2, 2, 3};
          change(p);
        });
  };
  EXPECT_EQ(verifyTasks([](ProgramDesc &) {}), "");
  EXPECT_THAT(verifyTasks([](ProgramDesc &p) { p.launchPlaces = {0, 1}; }), HasSubstr("place 1 does not exist"));
  EXPECT_THAT(verifyTasks([](ProgramDesc &p) { p.launchPlaces = {0}; }), HasSubstr("1 launches, but 2 launches"));
  EXPECT_THAT(verifyTasks([](ProgramDesc &p) { p.launchTasks.clear(); }), HasSubstr("but not their tasks"));
  EXPECT_THAT(verifyTasks([](ProgramDesc &p) { p.launchTasks[0] = kMostTasks + 1; }), HasSubstr("has task 1048577"));
  EXPECT_THAT(verifyTasks([](ProgramDesc &p) { p.taskEdges = {1}; }), HasSubstr("half a dependency"));
  EXPECT_THAT(verifyTasks([](ProgramDesc &p) { p.taskEdges = {2, 2}; }), HasSubstr("task 2 waits for task 2"));
  EXPECT_THAT(verifyTasks([](ProgramDesc &p) { p.taskEdges = {0, 2}; }), HasSubstr("task 2 waits for task 0"));
  EXPECT_THAT(verifyTasks([](ProgramDesc &p) { p.taskEdges = {1, UINT32_MAX}; }), HasSubstr("waits for task 1;"));
}

TEST(Program, HostCallsAreVerified) {
  auto host = [](std::vector<int64_t> constants, std::vector<uint32_t> slots) {
    return verifyWith(
        [&](ProgramWriter &w, const EntrySlots &s) {
          w.alloc(s.firstFree(), 40);
          w.callHost(0, slots);
          w.ret();
        },
        [&](VariantDesc &v) { v.program.constants = constants; });
  };
  EXPECT_EQ(host({1, 6, 4, 2, 2, 5, 1, 0}, {0, 1}), ""); // transpose of 2x5
  EXPECT_THAT(host({}, {0, 1}), HasSubstr("call_host without its constants"));
  EXPECT_THAT(host({1, 6, 4, 2, 2, 5, 1}, {0, 1}), HasSubstr("call_host without its constants"));
  EXPECT_THAT(host({1, -1}, {0, 1}), HasSubstr("call_host without its constants"));
  EXPECT_THAT(host({9, 0}, {0, 1}), HasSubstr("no host op has the number 9"));
  EXPECT_THAT(host({1, 6, 4, 2, 2, 5, 1, 1}, {0, 1}), HasSubstr("transpose has no permutation"));
  EXPECT_THAT(host({1, 6, 4, 2, 2, 6, 1, 0}, {0, 1}), HasSubstr("two buffers of 48 bytes"));
  EXPECT_THAT(host({1, 6, 4, 2, 2, 5, 1, 0}, {0}), HasSubstr("transpose expects 2 buffers, got 1"));
}

TEST(Program, DisassemblyNamesSlotsAndKernels) {
  std::vector<float> bias(10);
  ModelDesc model = pto_mlir::testing::biasReluModel(2, 5, bias);
  EXPECT_EQ(disassembleProgram(model, model.nets[0].variants[0]),
            "     0  alloc s3, 40\n"
            "     3  call_device k0_sum, in0[0 +40], weights[0 +40], s3[0 +40]\n"
            "    15  call_device k1_y, s3[0 +40], out0[0 +40]\n"
            "    24  wait\n"
            "    25  free s3\n"
            "    27  return\n");
}

} // namespace
