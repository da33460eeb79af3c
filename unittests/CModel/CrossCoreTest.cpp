// Cross-core flags: the cube core of a block passes rows to its vector cores, vector cores synchronise with each other,
// and missing flags are reported.
#include "TestKernel.h"

#include <chrono>

using namespace pto_mlir;
using namespace pto_mlir::cmodel;
using namespace pto_mlir::cmodel::test;
using isa::CoreKind;
using isa::CrossMode;
using isa::ElementType;
using isa::Layout;
using isa::Memory;
using isa::Pipe;
using isa::Value;

namespace {

isa::Tile rows(uint32_t address, uint16_t n) { return tile(ElementType::f32, Layout::ND, address, n, 16); }
isa::TLoad load(isa::Tile dst, isa::View src, Memory space) { return {dst, src, space}; }
isa::TStore store(isa::View dst, isa::Tile src, Memory space) {
  isa::TStore s;
  s.dst = dst, s.src = src, s.space = space;
  return s;
}
isa::View part(uint8_t arg, int64_t n) {
  isa::View v = view(arg, ElementType::f32, n, 16);
  v.offset = Value::reg(0);
  return v;
}

constexpr unsigned trips = 3;
constexpr uint32_t rowBytes = 64, blockBytes = 4 * rowBytes;
enum Flag { handed = 2, taken = 3 };
enum Without { nothing, withoutHanded, withoutTaken };

/// Per block: the cube core copies 4 rows of argument 0 to its slot of argument 1, `trips` times; each vector core
/// accumulates its 2 rows and stores the sum to argument 2. There is a single slot, so both directions need a flag.
TestKernel handOver(Without without = nothing) {
  TestKernel k(CoreKind::AIC, 3);
  auto blockOffset = [&](Pipe p) {
    k.add(p, isa::Get{0, isa::Query::block_idx}).add(p, isa::Mul{0, Value::reg(0), blockBytes});
  };
  for (Pipe p : {Pipe::MTE2, Pipe::MTE3})
    blockOffset(p);
  for (unsigned trip = 0; trip < trips; ++trip) {
    if (trip > 0) {
      k.sync(Pipe::MTE3, Pipe::MTE2, 1);
      if (without != withoutTaken)
        k.add(Pipe::S, isa::CrossWait{taken})
            .add(Pipe::S, isa::Push{0, Pipe::MTE3})
            .add(Pipe::MTE3, isa::Pop{1, Pipe::MTE3});
    }
    k.add(Pipe::MTE2, load(rows(0, 4), part(0, 4), Memory::L1)).sync(Pipe::MTE2, Pipe::MTE3);
    k.add(Pipe::MTE3, store(part(1, 4), rows(0, 4), Memory::L1));
    if (without != withoutHanded)
      k.add(Pipe::MTE3, isa::CrossSet{CrossMode::block, handed});
  }
  if (without != withoutTaken)
    k.add(Pipe::S, isa::CrossWait{taken});

  k.on(CoreKind::AIV);
  for (Pipe p : {Pipe::MTE2, Pipe::MTE3}) {
    blockOffset(p);
    k.add(p, isa::Get{1, isa::Query::subblock_idx})
        .add(p, isa::Mul{1, Value::reg(1), 2 * rowBytes})
        .add(p, isa::Add{0, Value::reg(0), Value::reg(1)});
  }
  for (unsigned trip = 0; trip < trips; ++trip) {
    if (without != withoutHanded)
      k.add(Pipe::S, isa::CrossWait{handed})
          .add(Pipe::S, isa::Push{0, Pipe::MTE2})
          .add(Pipe::MTE2, isa::Pop{1, Pipe::MTE2});
    if (trip > 0)
      k.sync(Pipe::V, Pipe::MTE2, 1);
    k.add(Pipe::MTE2, load(rows(0, 2), part(1, 2), Memory::UB));
    if (without != withoutTaken)
      k.add(Pipe::MTE2, isa::CrossSet{CrossMode::block, taken});
    k.sync(Pipe::MTE2, Pipe::V);
    if (trip == 0)
      k.add(Pipe::V, isa::TMov{rows(256, 2), rows(0, 2)});
    else
      k.add(Pipe::V, isa::TAdd{rows(256, 2), rows(256, 2), rows(0, 2)});
  }
  k.sync(Pipe::V, Pipe::MTE3).add(Pipe::MTE3, store(part(2, 2), rows(256, 2), Memory::UB));
  return k;
}

struct Launched {
  Launched(const TestKernel &k, const char *mode, uint32_t blocks = 2, uint32_t threads = 1, size_t floats = 64)
      : device(threads, levelApi(), mode) {
    x.resize(floats * blocks);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = float(i);
    args.push_back(device.upload(x));
    for (uint32_t i = 1; i < k.numArgs; ++i) {
      args.push_back({0, x.size() * 4});
      EXPECT_EQ(device.api->alloc(device.context, args[i].bytes, &args[i].address), PTO_OK);
    }
    status = device.run(k, args, blocks);
  }
  TestDevice device;
  std::vector<float> x;
  std::vector<pto_arg> args;
  pto_status status;
};

TEST(CrossCore, HandsRowsOverInEveryMode) {
  for (const char *mode : {"functional", "checked", "timing", "shuffled:1", "shuffled:2", "shuffled:3"})
    for (uint32_t threads : {1u, 3u}) {
      Launched r(handOver(), mode, 5, threads);
      ASSERT_EQ(r.status, PTO_OK) << mode << ": " << r.device.error();
      std::vector<float> y = r.device.download<float>(r.args[2]);
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_EQ(y[i], trips * r.x[i]) << mode << " " << i;
    }
}

TEST(CrossCore, RunsABlockForTheCallOfItsFirstCore) {
  TestKernel k = handOver();
  TestDevice device;
  std::vector<float> x(128, 2.0f);
  std::vector<pto_arg> args = {device.upload(x), device.upload(std::vector<float>(128)),
                               device.upload(std::vector<float>(128))};
  uint32_t id = 0;
  ASSERT_EQ(device.load(k, id), PTO_OK);
  pto_fault fault{};
  for (uint32_t core = 0; core < 6; ++core)
    ASSERT_EQ(device.api->run_core(device.context, id, 2, core, args.data(), args.size(), nullptr, 0, &fault), PTO_OK)
        << fault.message;
  for (float y : device.download<float>(args[2]))
    EXPECT_EQ(y, trips * 2.0f);
}

TEST(CrossCore, TimingSeesTheWait) {
  Launched r(handOver(), "timing", 1);
  pto_profile p = r.device.profile();
  EXPECT_GT(p.engine_stalled[6], 0.0); // S of the vector cores, until the first rows arrive
  EXPECT_GT(p.cycles, 5.9e-6 * 1.8e9);
}

/// Both vector cores of a block, or all of the launch, store one row each, synchronise, and read the row of the next
/// core.
TestKernel meeting(CrossMode mode, bool meet = true) {
  TestKernel k(CoreKind::AIV, 3);
  for (Pipe p : {Pipe::MTE2, Pipe::MTE3}) {
    k.add(p, isa::Get{0, isa::Query::block_idx})
        .add(p, isa::Mul{0, Value::reg(0), 2})
        .add(p, isa::Get{1, isa::Query::subblock_idx});
    k.add(p, isa::Add{0, Value::reg(0), Value::reg(1)});
    if (mode == CrossMode::pair)
      k.add(p, isa::Xor{2, Value::reg(0), 1});
    else
      k.add(p, isa::Get{3, isa::Query::block_num})
          .add(p, isa::Mul{3, Value::reg(3), 2})
          .add(p, isa::Add{2, Value::reg(0), 1})
          .add(p, isa::Rem{2, Value::reg(2), Value::reg(3)});
    k.add(p, isa::Mul{0, Value::reg(0), rowBytes}).add(p, isa::Mul{2, Value::reg(2), rowBytes});
  }
  isa::View next = part(1, 1);
  next.offset = Value::reg(2);
  k.add(Pipe::MTE2, load(rows(0, 1), part(0, 1), Memory::UB)).sync(Pipe::MTE2, Pipe::MTE3);
  k.add(Pipe::MTE3, store(part(1, 1), rows(0, 1), Memory::UB));
  if (meet) {
    k.add(Pipe::MTE3, isa::CrossSet{mode, 14}).add(Pipe::S, isa::CrossWait{14});
    k.add(Pipe::S, isa::Push{0, Pipe::MTE2}).add(Pipe::MTE2, isa::Pop{1, Pipe::MTE2});
  }
  k.add(Pipe::MTE2, load(rows(64, 1), next, Memory::UB)).sync(Pipe::MTE2, Pipe::MTE3, 1);
  k.add(Pipe::MTE3, store(part(2, 1), rows(64, 1), Memory::UB));
  return k;
}

TEST(CrossCore, VectorCoresMeet) {
  for (CrossMode mode : {CrossMode::pair, CrossMode::all})
    for (const char *how : {"functional", "checked", "timing", "shuffled:4"}) {
      Launched r(meeting(mode), how, 7, 3, 32);
      ASSERT_EQ(r.status, PTO_OK) << how << ": " << r.device.error();
      std::vector<float> y = r.device.download<float>(r.args[2]);
      for (size_t core = 0; core < 14; ++core) {
        size_t other = mode == CrossMode::pair ? core ^ 1 : (core + 1) % 14;
        EXPECT_EQ(y[core * 16 + 3], r.x[other * 16 + 3]) << how << " " << core;
      }
    }
  Launched without(meeting(CrossMode::pair, false), "checked", 1);
  ASSERT_EQ(without.status, PTO_ERROR_FAULT);
}

void expectFault(Launched &r, const char *kind, std::initializer_list<const char *> parts) {
  ASSERT_EQ(r.status, PTO_ERROR_FAULT);
  pto_fault f = r.device.fault();
  EXPECT_STREQ(f.kind, kind) << f.message;
  for (const char *p : parts)
    EXPECT_NE(std::string(f.message).find(p), std::string::npos) << f.message;
}

TEST(CrossCore, ReportsWhatNothingOrders) {
  Launched handed(handOver(withoutHanded), "checked");
  ASSERT_EQ(handed.status, PTO_ERROR_FAULT); // the vector core reads undefined data, or races
  Launched taken(handOver(withoutTaken), "checked");
  expectFault(taken, "race", {"AIV0.0 MTE2", "AIC0 MTE3", "missing: a cross-core flag between"});
}

TEST(CrossCore, ReportsDeadlocksWithWhoWaitsForWhom) {
  auto begin = std::chrono::steady_clock::now();
  TestKernel k(CoreKind::AIC, 1);
  k.add(Pipe::S, isa::CrossWait{4}).add(Pipe::S, isa::CrossSet{CrossMode::block, 5});
  k.on(CoreKind::AIV)
      .add(Pipe::S, isa::Get{0, isa::Query::subblock_idx})
      .add(Pipe::S, isa::SkipIfZero{Value::reg(0), 3});
  k.add(Pipe::S, isa::CrossSet{CrossMode::block, 4}).add(Pipe::S, isa::CrossWait{5});
  Launched r(k, "functional");
  expectFault(r, "deadlock",
              {"AIC0: S (word 0) waits for cross-core flag 4, not raised by AIV0.0", "AIV0.1: S", "cross-core flag 5"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

TEST(CrossCore, ReportsFlagsLeftAndRaisedTooOften) {
  TestKernel left(CoreKind::AIC, 1);
  left.add(Pipe::MTE2, isa::CrossSet{CrossMode::block, 1}).on(CoreKind::AIV).add(Pipe::S, isa::Mov{0, 1});
  Launched r(left, "functional");
  expectFault(r, "flag", {"cross-core flag 1 of AIV0.0 is still raised at the end"});

  TestKernel uneven(CoreKind::AIV, 1);
  uneven.add(Pipe::S, isa::Get{0, isa::Query::subblock_idx})
      .add(Pipe::S, isa::SkipIfZero{Value::reg(0), 3})
      .add(Pipe::S, isa::CrossSet{CrossMode::pair, 6});
  Launched u(uneven, "functional");
  expectFault(u, "flag", {"cross-core flag 6 was raised by AIV0.1 once more than by AIV0.0"});

  TestKernel often(CoreKind::AIC, 1);
  for (unsigned i = 0; i < 16; ++i)
    often.add(Pipe::MTE2, isa::CrossSet{CrossMode::block, 1});
  TestKernel paced = often;
  often.on(CoreKind::AIV).add(Pipe::S, isa::Mov{0, 1});
  Launched o(often, "functional");
  expectFault(o, "deadlock", {"cannot raise cross-core flag 1 beyond 15"});
  // All raises are consumed in time in this schedule, but nothing orders them.
  paced.on(CoreKind::AIV);
  for (unsigned i = 0; i < 16; ++i)
    paced.add(Pipe::S, isa::CrossWait{1});
  EXPECT_EQ(Launched(paced, "functional").status, PTO_OK);
  Launched p(paced, "checked");
  expectFault(p, "flag", {"may raise cross-core flag 1 of AIV0.0 beyond 15"});
}

TEST(CrossCore, RefusesFlagsForCoresThatAreNotThere) {
  TestKernel k(CoreKind::AIC, 0);
  k.add(Pipe::FIX, isa::CrossSet{CrossMode::block, 1});
  TestDevice device;
  uint32_t id = 0;
  EXPECT_EQ(device.load(k, id), PTO_ERROR_BAD_KERNEL);
  EXPECT_NE(device.error().find("for which the kernel has no commands"), std::string::npos) << device.error();
}

} // namespace
