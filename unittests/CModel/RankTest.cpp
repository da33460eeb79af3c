// Several devices in one run: signal cells between them, their order, and waits that nobody satisfies.
#include "TestKernel.h"

#include <chrono>

using namespace pto_mlir;
using namespace pto_mlir::cmodel;
using namespace pto_mlir::cmodel::test;
using isa::CellCompare;
using isa::CoreKind;
using isa::ElementType;
using isa::NotifyMode;
using isa::Pipe;
using isa::Value;

namespace {

isa::View cell(int64_t index) { return view(0, ElementType::i32, 1, 1, 1, 4 * index); }

/// Rank r (a scalar) of n: raises cell (r + 1) % n, waits for its own, and counts in cell n.
TestKernel ring(int64_t ranks, bool raises = true) {
  TestKernel k(CoreKind::AIV, 1);
  isa::View next = cell(0), own = cell(0);
  next.offset = Value::reg(1), own.offset = Value::reg(2);
  k.add(Pipe::S, isa::Get{0, isa::Query(isa::kNumQueries)})
      .add(Pipe::S, isa::Get{4, isa::Query::subblock_idx})
      .add(Pipe::S, isa::Add{1, Value::reg(0), 1})
      .add(Pipe::S, isa::Rem{1, Value::reg(1), ranks})
      .add(Pipe::S, isa::Mul{1, Value::reg(1), 4})
      .add(Pipe::S, isa::Mul{2, Value::reg(0), 4});
  if (raises)
    k.add(Pipe::S, isa::Notify{next, 1, NotifyMode::add});
  k.add(Pipe::S, isa::WaitCell{own, 1, CellCompare::ge}).add(Pipe::S, isa::Notify{cell(ranks), 1, NotifyMode::add});
  return k;
}

struct Ranks {
  explicit Ranks(int64_t count, const char *mode = "functional")
      : device(1, levelApi(), mode), memory(device.upload(std::vector<int32_t>(size_t(count) + 1))) {}

  pto_status run(const std::vector<std::pair<uint32_t, uint32_t>> &launches, std::vector<uint32_t> after = {}) {
    std::vector<pto_rank_launch> list;
    scalars.clear();
    for (auto [rank, kernel] : launches)
      scalars.push_back(rank);
    for (size_t i = 0; i < launches.size(); ++i)
      list.push_back({launches[i].first, launches[i].second, 1, &memory, 1, &scalars[i], 1, nullptr, 0});
    if (!after.empty())
      list.back().after = after.data(), list.back().num_after = after.size();
    return device.api->run_ranks(device.context, list.data(), list.size(), &fault);
  }

  TestDevice device;
  pto_arg memory;
  std::vector<int64_t> scalars;
  pto_fault fault{};
};

} // namespace

TEST(Ranks, WaitForEachOther) {
  for (auto [count, mode] : std::vector<std::pair<int64_t, const char *>>{
           {1, "functional"}, {2, "functional"}, {5, "functional"}, {5, "checked"}, {5, "shuffled:3"}}) {
    Ranks ranks(count, mode);
    uint32_t kernel = 0;
    ASSERT_EQ(ranks.device.load(ring(count), kernel), PTO_OK);
    std::vector<std::pair<uint32_t, uint32_t>> launches;
    for (uint32_t rank = 0; rank < count; ++rank)
      launches.emplace_back(rank, kernel);
    ASSERT_EQ(ranks.run(launches), PTO_OK) << ranks.fault.message;
    std::vector<int32_t> expected(size_t(count) + 1, 2); // by both vector cores of a block
    expected.back() = int32_t(2 * count);
    EXPECT_EQ(ranks.device.download<int32_t>(ranks.memory), expected);
    EXPECT_EQ(ranks.device.profile().launches, uint64_t(count));
  }
}

TEST(Ranks, ReportAWaitThatNobodySatisfies) {
  Ranks ranks(3);
  uint32_t raises = 0, silent = 0;
  ASSERT_EQ(ranks.device.load(ring(3), raises), PTO_OK);
  ASSERT_EQ(ranks.device.load(ring(3, false), silent), PTO_OK);
  auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(ranks.run({{0, silent}, {1, silent}, {2, raises}}), PTO_ERROR_FAULT); // nobody raises the cells of 1 and 2
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  EXPECT_STREQ(ranks.fault.kind, "deadlock");
  std::string text = ranks.fault.message;
  EXPECT_EQ(text.find("rank 1 in kernel 'test'"), 0U) << text;
  EXPECT_NE(text.find("waits for the cell 4 bytes into argument 0, which is 0, to be at least 1"), text.npos) << text;
  EXPECT_NE(text.find("rank 0 has ended"), text.npos) << text;
  // The device stays usable.
  EXPECT_EQ(ranks.device.run(ring(1), {ranks.memory}, 1, {0}), PTO_OK);
}

TEST(Ranks, AWaitOutsideOfARunOfRanksIsADeadlock) {
  Ranks ranks(1);
  EXPECT_EQ(ranks.device.run(ring(1, false), {ranks.memory}, 1, {0}), PTO_ERROR_FAULT);
  EXPECT_NE(ranks.device.error().find("to be at least 1"), std::string::npos) << ranks.device.error();
}

TEST(Ranks, ALaunchWaitsForThatOfAnotherDevice) {
  Ranks ranks(1);
  TestKernel sets(CoreKind::AIV, 1), adds(CoreKind::AIV, 1);
  sets.add(Pipe::S, isa::Notify{cell(0), 5, NotifyMode::set});
  adds.add(Pipe::S, isa::Notify{cell(0), 1, NotifyMode::add});
  uint32_t first = 0, second = 0;
  ASSERT_EQ(ranks.device.load(sets, first), PTO_OK);
  ASSERT_EQ(ranks.device.load(adds, second), PTO_OK);
  ASSERT_EQ(ranks.run({{1, first}, {0, second}}, {0}), PTO_OK);
  EXPECT_EQ(ranks.device.download<int32_t>(ranks.memory)[0], 7);
}

TEST(Ranks, LaunchesThatDoNotWaitHaveTheOrderOfTheProgram) {
  Ranks ranks(1);
  TestKernel sets(CoreKind::AIV, 1), adds(CoreKind::AIV, 1), resets(CoreKind::AIV, 1);
  sets.add(Pipe::S, isa::Notify{cell(0), 5, NotifyMode::set});
  adds.add(Pipe::S, isa::Notify{cell(0), 1, NotifyMode::add});
  resets.add(Pipe::S, isa::Notify{cell(0), 9, NotifyMode::set});
  uint32_t first = 0, second = 0, third = 0;
  ASSERT_EQ(ranks.device.load(sets, first), PTO_OK);
  ASSERT_EQ(ranks.device.load(adds, second), PTO_OK);
  ASSERT_EQ(ranks.device.load(resets, third), PTO_OK);
  ASSERT_EQ(ranks.run({{0, first}, {1, second}, {0, third}}), PTO_OK);
  EXPECT_EQ(ranks.device.download<int32_t>(ranks.memory)[0], 9); // 11 if rank 0 went on to its second launch
}

namespace {

/// Kernels of which only the first vector core works; cells from 2 on are numbers that ranks hand on under cell 0.
struct Checked : Ranks {
  Checked() : Ranks(3, "checked") {}
  uint32_t kernel(const std::function<void(TestKernel &)> &add) {
    TestKernel k(CoreKind::AIV, 1);
    k.add(Pipe::S, isa::Get{4, isa::Query::subblock_idx}).add(Pipe::S, isa::Sub{4, 1, Value::reg(4)});
    k.add(Pipe::S, isa::Loop{3, 0, Value::reg(4), 1}); // of one iteration, on the first vector core
    add(k);
    k.add(Pipe::S, isa::End{});
    uint32_t id = 0;
    EXPECT_EQ(device.load(k, id), PTO_OK);
    return id;
  }
  /// A store of a number and a notification.
  uint32_t gives(int64_t number, NotifyMode mode = NotifyMode::add) {
    return kernel([&](TestKernel &k) {
      k.add(Pipe::S, isa::StoreScalar{cell(2 + number), 7}).add(Pipe::S, isa::Notify{cell(0), 1, mode});
    });
  }
  /// A wait, and loads of numbers.
  uint32_t takes(int64_t wanted, CellCompare compare, const std::vector<int64_t> &numbers) {
    return kernel([&](TestKernel &k) {
      k.add(Pipe::S, isa::WaitCell{cell(0), wanted, compare});
      for (int64_t number : numbers)
        k.add(Pipe::S, isa::LoadScalar{5, cell(2 + number)});
    });
  }
};

} // namespace

TEST(CheckedRanks, AWaitIsBehindWhatItNeeds) {
  for (NotifyMode mode : {NotifyMode::add, NotifyMode::set})
    for (CellCompare compare : {CellCompare::ge, CellCompare::eq}) {
      Checked ranks;
      EXPECT_EQ(ranks.run({{0, ranks.gives(0, mode)}, {1, ranks.takes(1, compare, {0})}}), PTO_OK)
          << ranks.fault.message;
    }
  Checked both;
  EXPECT_EQ(both.run({{0, both.gives(0)}, {1, both.gives(1)}, {2, both.takes(2, CellCompare::ge, {0, 1})}}), PTO_OK)
      << both.fault.message;
}

TEST(CheckedRanks, AWaitIsBehindNeitherOfTwoThatWouldDo) {
  Checked ranks;
  ASSERT_EQ(ranks.run({{0, ranks.gives(0)}, {1, ranks.gives(1)}, {2, ranks.takes(1, CellCompare::ge, {1})}}),
            PTO_ERROR_FAULT);
  EXPECT_STREQ(ranks.fault.kind, "race");
  std::string text = ranks.fault.message;
  EXPECT_NE(text.find("rank 2: S word "), text.npos) << text;
  EXPECT_NE(text.find(" reads byte 12 of argument 0, which rank 1, kernel 'test', AIV0.0 S word "), text.npos) << text;
  EXPECT_NE(text.find("missing: a notify"), text.npos) << text;
}

TEST(CheckedRanks, OfOneRankTheFirstThatWouldDoIsNeeded) {
  Checked ranks;
  uint32_t first = ranks.gives(0), second = ranks.gives(1);
  EXPECT_EQ(ranks.run({{0, first}, {0, second}, {1, ranks.takes(1, CellCompare::ge, {0})}}), PTO_OK)
      << ranks.fault.message;
  EXPECT_EQ(ranks.run({{0, first}, {0, second}, {1, ranks.takes(1, CellCompare::ge, {1})}}), PTO_ERROR_FAULT);
}

TEST(CheckedRanks, LaunchesThatComeAfterOthersAreOrdered) {
  Checked ranks;
  uint32_t gives = ranks.gives(0), takes = ranks.takes(0, CellCompare::ge, {0});
  EXPECT_EQ(ranks.run({{0, gives}, {1, takes}}), PTO_ERROR_FAULT);
  EXPECT_EQ(ranks.run({{0, gives}, {1, takes}}, {0}), PTO_OK) << ranks.fault.message;
  EXPECT_EQ(ranks.run({{0, gives}, {0, takes}}), PTO_OK) << ranks.fault.message;
}

TEST(CheckedRanks, WhatNoNotificationOrdersIsARace) {
  Checked ranks;
  uint32_t late = ranks.kernel([](TestKernel &k) {
    k.add(Pipe::S, isa::Notify{cell(0), 1, NotifyMode::add}).add(Pipe::S, isa::StoreScalar{cell(2), 7});
  });
  EXPECT_EQ(ranks.run({{0, late}, {1, ranks.takes(1, CellCompare::ge, {0})}}), PTO_ERROR_FAULT);
  uint32_t writes = ranks.kernel([](TestKernel &k) { k.add(Pipe::S, isa::StoreScalar{cell(0), 1}); });
  EXPECT_EQ(ranks.run({{0, writes}, {1, ranks.takes(1, CellCompare::ge, {})}}), PTO_ERROR_FAULT);
  EXPECT_NE(std::string(ranks.fault.message).find(" waits for byte 0 of argument 0, which rank 0"), std::string::npos)
      << ranks.fault.message;
}

TEST(CheckedRanks, MoreCoresThanItHolds) {
  Checked ranks;
  pto_rank_launch launch{0, ranks.gives(0), 2048, &ranks.memory, 1, nullptr, 0, nullptr, 0};
  EXPECT_EQ(ranks.device.api->run_ranks(ranks.device.context, &launch, 1, &ranks.fault), PTO_ERROR_INVALID);
  EXPECT_STREQ(ranks.fault.message, "the checked mode takes programs of at most 2048 cores, and its ranks have 4096");
}

TEST(Ranks, WrongRunsAreRefused) {
  Ranks ranks(1);
  uint32_t kernel = 0;
  ASSERT_EQ(ranks.device.load(ring(1), kernel), PTO_OK);
  EXPECT_EQ(ranks.run({{64, kernel}}), PTO_ERROR_INVALID);
  EXPECT_STREQ(ranks.fault.message, "rank 64 of at most 64");
  EXPECT_EQ(ranks.run({{0, kernel + 1}}), PTO_ERROR_INVALID);
  EXPECT_EQ(ranks.run({{0, kernel}}, {0}), PTO_ERROR_INVALID);
  EXPECT_EQ(ranks.run({}), PTO_OK);
}

TEST(Ranks, AreWatched) {
  Ranks ranks(1);
  TestKernel waits(CoreKind::AIV, 1), gives(CoreKind::AIV, 1);
  waits.add(Pipe::S, isa::WaitCell{cell(0), 2, CellCompare::ge}); // both vector cores notify
  gives.add(Pipe::S, isa::Li{1, 1}).add(Pipe::S, isa::Notify{cell(0), 1, NotifyMode::add});
  uint32_t waiting = 0, giving = 0;
  ASSERT_EQ(ranks.device.load(waits, waiting), PTO_OK);
  ASSERT_EQ(ranks.device.load(gives, giving), PTO_OK);
  std::vector<std::pair<size_t, int>> seen;
  auto note = [](void *user, size_t launch, int ended) {
    static_cast<std::vector<std::pair<size_t, int>> *>(user)->emplace_back(launch, ended);
  };
  const pto_device_api &api = *ranks.device.api;
  ASSERT_EQ(api.watch_ranks(ranks.device.context, note, &seen), PTO_OK);
  ASSERT_EQ(ranks.run({{0, waiting}, {1, giving}}), PTO_OK) << ranks.fault.message;
  // The first one waits while the second one runs.
  EXPECT_EQ(seen, (std::vector<std::pair<size_t, int>>{{0, 0}, {1, 0}, {1, 1}, {0, 1}}));
  ASSERT_EQ(api.watch_ranks(ranks.device.context, nullptr, nullptr), PTO_OK);
  EXPECT_EQ(api.watch_ranks(nullptr, note, &seen), PTO_ERROR_INVALID);
  seen.clear();
  ASSERT_EQ(ranks.run({{0, giving}}), PTO_OK);
  EXPECT_TRUE(seen.empty());
}

TEST(Ranks, AWatchMayLookAtUnwrittenMemory) {
  Ranks ranks(1, "checked");
  struct Look {
    Ranks &ranks;
    uint64_t address = 0;
    std::vector<pto_status> found;
  } look{ranks};
  const pto_device_api &api = *ranks.device.api;
  ASSERT_EQ(api.alloc(ranks.device.context, 64, &look.address), PTO_OK);
  auto copy = [](void *user, size_t, int) {
    auto &look = *static_cast<Look *>(user);
    int32_t value = 0;
    look.found.push_back(
        look.ranks.device.api->copy_from_device(look.ranks.device.context, &value, look.address, sizeof value));
  };
  uint32_t kernel = 0;
  ASSERT_EQ(ranks.device.load(ring(1), kernel), PTO_OK);
  ASSERT_EQ(api.watch_ranks(ranks.device.context, copy, &look), PTO_OK);
  ASSERT_EQ(ranks.run({{0, kernel}}), PTO_OK) << ranks.fault.message;
  EXPECT_EQ(look.found, (std::vector<pto_status>{PTO_OK, PTO_OK}));
  look.found.clear();
  copy(&look, 0, 0); // a read of the program
  EXPECT_EQ(look.found, std::vector<pto_status>{PTO_ERROR_INVALID});
}

TEST(TimedRanks, AWaitTakesUntilTheNotification) {
  Ranks ranks(1, "timing");
  TestKernel waits(CoreKind::AIV, 1), gives(CoreKind::AIV, 1), brief(CoreKind::AIV, 1);
  waits.add(Pipe::S, isa::WaitCell{cell(0), 2, CellCompare::ge}); // both vector cores notify
  gives.add(Pipe::S, isa::Loop{0, 0, 20000, 1})
      .add(Pipe::S, isa::Add{1, Value::reg(0), 1})
      .add(Pipe::S, isa::End{})
      .add(Pipe::S, isa::Notify{cell(0), 1, NotifyMode::add});
  brief.add(Pipe::S, isa::Li{0, 1});
  uint32_t waiting = 0, giving = 0, other = 0;
  ASSERT_EQ(ranks.device.load(waits, waiting), PTO_OK);
  ASSERT_EQ(ranks.device.load(gives, giving), PTO_OK);
  ASSERT_EQ(ranks.device.load(brief, other), PTO_OK);
  ASSERT_EQ(ranks.run({{0, waiting}, {1, giving}, {0, other}, {2, other}}), PTO_OK) << ranks.fault.message;
  double begins[4], ends[4];
  const pto_device_api &api = *ranks.device.api;
  ASSERT_EQ(api.rank_seconds(ranks.device.context, begins, ends, 4), PTO_OK);
  EXPECT_EQ(begins[0], 0);
  EXPECT_EQ(begins[1], 0);
  EXPECT_GT(ends[1], 20000 / isa::chipInfo(isa::Arch::a3).clock);
  EXPECT_GT(ends[0], ends[1]); // the wait sees the notification a moment later
  EXPECT_LT(ends[0] - ends[1], 0.1 * ends[1]);
  EXPECT_EQ(begins[2], ends[0]);     // launches of a device come one after another
  EXPECT_LT(ends[3], 0.5 * ends[1]); // the third device has nothing to wait for
  EXPECT_EQ(api.rank_seconds(ranks.device.context, begins, ends, 3), PTO_ERROR_INVALID);
  EXPECT_GT(ranks.device.profile().cycles, 20000);
}
