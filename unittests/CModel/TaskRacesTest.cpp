// Races between launches that the checked mode is told may overlap.
#include "TestKernel.h"

using namespace pto_mlir;
using namespace pto_mlir::cmodel;
using namespace pto_mlir::cmodel::test;
using isa::ElementType;
using isa::Layout;
using isa::Memory;
using isa::Pipe;

namespace {

/// Copies rows [first, first + count) of argument 0 (8 x 16 f32) to those of argument 1; each vector core half of them.
TestKernel copyRows(int64_t first, int64_t count, isa::AtomicMode atomic = isa::AtomicMode::none) {
  TestKernel k(isa::CoreKind::AIV, 2);
  int64_t half = count / 2;
  auto rows = [&](uint8_t arg) {
    isa::View v = view(arg, ElementType::f32, half, 16);
    v.offset = isa::Value::reg(0);
    return v;
  };
  isa::Tile box = tile(ElementType::f32, Layout::ND, 0, uint16_t(half), 16, half, 16);
  isa::TStore store;
  store.dst = rows(1), store.src = box, store.space = Memory::UB, store.atomic = atomic;
  for (Pipe pipe : {Pipe::MTE2, Pipe::MTE3})
    k.add(pipe, isa::Get{0, isa::Query::subblock_idx})
        .add(pipe, isa::Mul{0, isa::Value::reg(0), half * 64})
        .add(pipe, isa::Add{0, isa::Value::reg(0), first * 64});
  k.add(Pipe::MTE2, isa::TLoad{box, rows(0), Memory::UB});
  k.sync(Pipe::MTE2, Pipe::MTE3).add(Pipe::MTE3, store);
  return k;
}

struct Tasks {
  TestDevice device{1, levelApi(), "checked"};
  std::vector<pto_arg> args{device.upload(std::vector<float>(128, 1)), device.upload(std::vector<float>(128, 0))};

  pto_status run(const TestKernel &kernel, uint32_t task, const std::vector<uint32_t> &others, bool isSwapped = false) {
    EXPECT_EQ(device.api->may_overlap(device.context, task, others.data(), others.size()), PTO_OK);
    return device.run(kernel, isSwapped ? std::vector{args[1], args[0]} : args);
  }
  std::string message() { return device.fault().message; }
};

TEST(TaskRaces, SaysWhichBytesTwoTasksAccess) {
  Tasks t;
  ASSERT_EQ(t.run(copyRows(0, 4), 1, {}), PTO_OK) << t.device.error();
  ASSERT_EQ(t.run(copyRows(4, 4), 2, {1}), PTO_OK) << t.device.error(); // other rows
  ASSERT_EQ(t.run(copyRows(3, 2), 3, {2, 1}), PTO_ERROR_FAULT);
  EXPECT_STREQ(t.device.fault().kind, "task-race");
  EXPECT_EQ(t.message().find("writes byte 192 of argument 1, which task #"), 0u) << t.message();
  EXPECT_NE(t.message().find(" writes (kernel 'test', AIV0.1 MTE3 word "), std::string::npos) << t.message();
}

TEST(TaskRaces, ReadsRaceWithWrites) {
  Tasks t;
  ASSERT_EQ(t.run(copyRows(0, 4), 1, {}), PTO_OK) << t.device.error();
  ASSERT_EQ(t.run(copyRows(0, 4), 2, {1}, /*isSwapped=*/true), PTO_ERROR_FAULT);
  EXPECT_EQ(t.message().find("reads byte 0 of argument 0, which task #1 writes"), 0u) << t.message();
}

TEST(TaskRaces, WhatIsOrderedOrAddedIsNone) {
  Tasks t;
  ASSERT_EQ(t.run(copyRows(0, 4), 1, {}), PTO_OK) << t.device.error();
  EXPECT_EQ(t.run(copyRows(0, 4), 2, {}), PTO_OK) << t.device.error();
  EXPECT_EQ(t.run(copyRows(0, 4), 0, {}), PTO_OK) << t.device.error(); // behind all, which it forgets
  EXPECT_EQ(t.run(copyRows(0, 4), 3, {1, 2}), PTO_OK) << t.device.error();
  Tasks sums;
  ASSERT_EQ(sums.run(copyRows(0, 4, isa::AtomicMode::add), 1, {}), PTO_OK) << sums.device.error();
  EXPECT_EQ(sums.run(copyRows(2, 4, isa::AtomicMode::add), 2, {1}), PTO_OK) << sums.device.error();
  EXPECT_EQ(sums.run(copyRows(2, 2), 3, {1}), PTO_ERROR_FAULT);
}

TEST(TaskRaces, OtherModesTakeTheCallAndBadOnesAreRefused) {
  TestDevice device;
  EXPECT_EQ(device.api->may_overlap(device.context, 1, nullptr, 0), PTO_OK);
  EXPECT_EQ(device.api->may_overlap(device.context, 1, nullptr, 2), PTO_ERROR_INVALID);
  EXPECT_EQ(device.api->may_overlap(nullptr, 1, nullptr, 0), PTO_ERROR_INVALID);
}

} // namespace
