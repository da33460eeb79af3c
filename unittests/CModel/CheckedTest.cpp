// The checked mode: required reports, and kernels that must not be reported.
#include "Checked/Accesses.h"
#include "Checked/Shadow.h"
#include "CheckedHarness.h"

using namespace pto_mlir;
using namespace pto_mlir::cmodel;
using namespace pto_mlir::cmodel::test;
using isa::ElementType;
using isa::Layout;
using isa::Memory;
using isa::Pipe;
using isa::Value;

namespace {

constexpr int none = -1;

/// y = x + x in three trips over one buffer, with all required flags; `without` selects the pair that is left out.
TestKernel threeTrips(int without) {
  TestKernel k(isa::CoreKind::AIV, 2);
  auto set = [&](Pipe from, Pipe to, int id, int what) {
    if (what != without)
      k.add(from, isa::SetFlag{from, to, id});
  };
  auto wait = [&](Pipe from, Pipe to, int id, int what) {
    if (what != without)
      k.add(to, isa::WaitFlag{from, to, id});
  };
  enum { loaded, computed, inputFree, outputFree };
  ownPart(k);
  set(Pipe::V, Pipe::MTE2, 0, inputFree);
  set(Pipe::MTE3, Pipe::V, 0, outputFree);
  for (int trip = 0; trip < 3; ++trip) {
    wait(Pipe::V, Pipe::MTE2, 0, inputFree);
    k.add(Pipe::MTE2, load(ub(0), whole(0)));
    set(Pipe::MTE2, Pipe::V, 0, loaded);
    wait(Pipe::MTE2, Pipe::V, 0, loaded);
    wait(Pipe::MTE3, Pipe::V, 0, outputFree);
    k.add(Pipe::V, isa::TAdd{ub(256), ub(0), ub(0)});
    set(Pipe::V, Pipe::MTE2, 0, inputFree);
    set(Pipe::V, Pipe::MTE3, 0, computed);
    wait(Pipe::V, Pipe::MTE3, 0, computed);
    k.add(Pipe::MTE3, store(mine(), ub(256)));
    set(Pipe::MTE3, Pipe::V, 0, outputFree);
  }
  wait(Pipe::V, Pipe::MTE2, 0, inputFree);
  wait(Pipe::MTE3, Pipe::V, 0, outputFree);
  return k;
}

TEST(Checked, AcceptsWhatIsOrdered) {
  Checked c;
  ASSERT_EQ(c.run(threeTrips(none)), PTO_OK) << c.device.error();
  EXPECT_EQ(c.device.download<float>(c.args[1])[5], 10.0f);
}

TEST(Checked, ReportsEachMissingFlag) {
  const char *other[] = {"MTE2", "MTE3", "MTE2", "MTE3"}; // besides V
  for (int without = 0; without < 4; ++without) {
    Checked c;
    ASSERT_EQ(c.run(threeTrips(without)), PTO_ERROR_FAULT) << without;
    // An engine that runs ahead may also read undefined data.
    EXPECT_TRUE(c.kind() == "race" || c.kind() == "uninitialised") << c.kind();
    if (c.kind() == "race") {
      expectPart(c.message(), "missing: a flag between ");
      expectPart(c.message(), other[without]);
    }
  }
}

TEST(Checked, NamesBothAccesses) {
  Checked c;
  ASSERT_EQ(c.run(threeTrips(2)), PTO_ERROR_FAULT);
  EXPECT_EQ(c.kind(), "race");
  expectPart(c.message(), "tload");
  expectPart(c.message(), "tadd");
  expectPart(c.message(), "UB byte 0");
  EXPECT_STREQ(c.device.fault().kernel, "test");
}

TEST(Checked, ReportsReadsOfWhatNobodyWrote) {
  Checked local;
  TestKernel k(isa::CoreKind::AIV, 2);
  k.add(Pipe::MTE2, load(ub(0, 4, 16, 4, 15), view(0, ElementType::f32, 4, 15, 16)));
  // The undefined last column propagates through the additions, also in place, and is reported when it is stored.
  k.sync(Pipe::MTE2, Pipe::V)
      .add(Pipe::V, isa::TAdd{ub(256), ub(0), ub(0)})
      .add(Pipe::V, isa::TAdd{ub(256), ub(256), ub(256)});
  k.sync(Pipe::V, Pipe::MTE3);
  ownPart(k);
  TestKernel inside = k;
  isa::View columns = mine();
  columns.sizes[1] = 15;
  inside.add(Pipe::MTE3, store(columns, ub(256, 4, 16, 4, 15)));
  ASSERT_EQ(local.run(inside), PTO_OK) << local.device.error();
  k.add(Pipe::MTE3, store(mine(), ub(256)));
  ASSERT_EQ(local.run(k), PTO_ERROR_FAULT);
  EXPECT_EQ(local.kind(), "uninitialised");
  expectPart(local.message(), "UB byte 316");

  Checked host; // an output of which one row is never stored
  TestKernel part(isa::CoreKind::AIV, 2);
  part.add(Pipe::MTE2, load(ub(0, 3), view(0, ElementType::f32, 3, 16))).sync(Pipe::MTE2, Pipe::MTE3);
  ownPart(part);
  part.add(Pipe::MTE3, store(mine(3), ub(0, 3)));
  ASSERT_EQ(host.run(part), PTO_OK);
  std::vector<float> y(64);
  EXPECT_EQ(host.device.api->copy_from_device(host.device.context, y.data(), host.args[1].address, 256),
            PTO_ERROR_INVALID);
  expectPart(host.device.error(), "byte 192");
}

TEST(Checked, ReportsPendingFlags) {
  // The second set finds the flag cleared only because of the order in which this simulator schedules engines.
  Checked c;
  TestKernel k(isa::CoreKind::AIV, 2);
  k.sync(Pipe::MTE2, Pipe::V, 3);
  k.add(Pipe::V, isa::SetFlag{Pipe::V, Pipe::S, 0}).add(Pipe::S, isa::WaitFlag{Pipe::V, Pipe::S, 0});
  k.add(Pipe::S, isa::SetFlag{Pipe::S, Pipe::MTE2, 0}).add(Pipe::MTE2, isa::WaitFlag{Pipe::S, Pipe::MTE2, 0});
  k.sync(Pipe::MTE2, Pipe::V, 3);
  EXPECT_EQ(c.run(k), PTO_OK) << c.device.error();

  Checked d;
  TestKernel m(isa::CoreKind::AIV, 2);
  m.add(Pipe::S, isa::SetFlag{Pipe::S, Pipe::MTE2, 0}).add(Pipe::MTE2, isa::WaitFlag{Pipe::S, Pipe::MTE2, 0});
  m.sync(Pipe::MTE2, Pipe::V, 3);
  m.add(Pipe::S, isa::SetFlag{Pipe::S, Pipe::MTE2, 0}).add(Pipe::MTE2, isa::WaitFlag{Pipe::S, Pipe::MTE2, 0});
  m.sync(Pipe::MTE2, Pipe::V, 3);
  ASSERT_EQ(d.run(m), PTO_ERROR_FAULT);
  EXPECT_EQ(d.kind(), "flag");
}

TEST(Checked, CoresAreNotOrdered) {
  TestKernel k(isa::CoreKind::AIV, 2); // every core stores the same 64 elements
  k.add(Pipe::MTE2, load(ub(0), whole(0))).sync(Pipe::MTE2, Pipe::MTE3).add(Pipe::MTE3, store(whole(1), ub(0)));
  Checked c;
  ASSERT_EQ(c.run(k), PTO_ERROR_FAULT);
  EXPECT_EQ(c.kind(), "race");
  expectPart(c.message(), "AIV0.0");

  // Each core stores 6 elements of 4 bytes of its own: cores share cells of 32 bytes, but no bytes.
  TestKernel own(isa::CoreKind::AIV, 2);
  for (Pipe p : {Pipe::MTE2, Pipe::MTE3}) {
    own.add(p, isa::Get{0, isa::Query::block_idx})
        .add(p, isa::Mul{0, Value::reg(0), 2})
        .add(p, isa::Get{1, isa::Query::subblock_idx});
    own.add(p, isa::Add{0, Value::reg(0), Value::reg(1)}).add(p, isa::Mul{0, Value::reg(0), 24});
  }
  isa::View in = view(0, ElementType::f32, 1, 6), out = view(1, ElementType::f32, 1, 6);
  in.offset = out.offset = Value::reg(0);
  own.add(Pipe::MTE2, load(ub(0, 1, 16, 1, 6), in))
      .sync(Pipe::MTE2, Pipe::MTE3)
      .add(Pipe::MTE3, store(out, ub(0, 1, 16, 1, 6)));
  Checked d;
  EXPECT_EQ(d.run(own, 4), PTO_OK) << d.device.error();
}

TEST(Checked, ArgumentsMayLieInsideOfOthers) {
  TestKernel k(isa::CoreKind::AIV, 2);
  ownPart(k);
  k.add(Pipe::MTE2, load(ub(0), whole(0))).sync(Pipe::MTE2, Pipe::MTE3).add(Pipe::MTE3, store(mine(), ub(0)));
  for (auto [begin, readBytes, status] : {std::tuple(128, 256, PTO_ERROR_FAULT), std::tuple(256, 320, PTO_OK)}) {
    Checked c;
    pto_arg memory = c.device.upload(std::vector<float>(256));
    std::vector<pto_arg> args{{memory.address, uint64_t(readBytes)}, {memory.address + uint64_t(begin), 512}};
    EXPECT_EQ(c.device.run(k, args, 1), status) << begin << " " << c.device.error();
    EXPECT_EQ(c.kind(), status == PTO_OK ? "" : "race");
  }
}

TEST(Checked, AdditionsOfCoresMeet) {
  TestKernel k(isa::CoreKind::AIV, 1);
  k.add(Pipe::V, isa::TExpands{ub(0), Value(0x3f800000)}).sync(Pipe::V, Pipe::MTE3);
  k.add(Pipe::MTE3, store(whole(0), ub(0), isa::AtomicMode::add));
  TestDevice device(1, levelApi(), "checked");
  std::vector<pto_arg> args{device.upload(std::vector<float>(64))};
  ASSERT_EQ(device.run(k, args, 3), PTO_OK) << device.error();
  EXPECT_EQ(device.download<float>(args[0])[9], 6.0f);
}

// --- byte ranges of tiles ---

TEST(Accesses, RunsCoverExactlyTheRegion) {
  struct Case {
    ElementType type;
    Layout layout;
    uint16_t rows, cols;
  };
  for (Case c : {Case{ElementType::f32, Layout::ND, 6, 24},
                 {ElementType::f16, Layout::DN, 32, 5},
                 {ElementType::f16, Layout::NZ, 48, 64},
                 {ElementType::f32, Layout::NZ, 32, 24},
                 {ElementType::f16, Layout::ZN, 48, 32},
                 {ElementType::i8, Layout::ZZ, 48, 64},
                 {ElementType::f32, Layout::ZZ, 32, 24},
                 {ElementType::f32, Layout::NN, 24, 32},
                 {ElementType::f32, Layout::NZ16, 48, 32}})
    for (auto [row, col, n, m] :
         {std::array<uint64_t, 4>{0, 0, c.rows, c.cols}, {1, 3, 4, 2}, {0, 0, 5, 1}, {2, 0, 3, c.cols}}) {
      isa::Tile t = tile(c.type, c.layout, 64, c.rows, c.cols);
      uint64_t bytes = isa::elementBits(c.type) / 8;
      std::vector<int> expected(64 + size_t(c.rows) * c.cols * bytes), got(expected.size());
      for (uint64_t r = row; r < row + n; ++r)
        for (uint64_t k = col; k < col + m; ++k)
          for (uint64_t b = 0; b < bytes; ++b)
            expected[64 + isa::elementOffset(c.layout, c.type, c.rows, c.cols, r, k) * bytes + b] = 1;
      std::vector<ByteRuns> runs;
      tileRuns(t, row, col, n, m, runs);
      for (const ByteRuns &run : runs)
        for (uint64_t i = 0; i < run.count; ++i)
          for (uint64_t b = 0; b < run.length; ++b)
            ++got.at(run.begin + i * uint64_t(run.pitch) + b);
      EXPECT_EQ(got, expected) << isa::kLayoutNames[unsigned(c.layout)] << " " << row << " " << col << " " << n << " "
                               << m;
    }
}

// --- shadow memory, compared with a model that keeps the history of every byte ---

TEST(Shadow, AgreesWithABytewiseModel) {
  struct Byte {
    struct Past {
      Event event;
      bool write, add;
    };
    std::vector<Past> past;
  };
  std::mt19937 random(5);
  for (int round = 0; round < 5000; ++round) {
    AccessShadow shadow(128);
    std::vector<Byte> bytes(128);
    constexpr unsigned numEngines = 5; // three of one core, two of another core of the group
    constexpr uint32_t places[] = {0, 1, 2, maxEngines, maxEngines + 1};
    std::vector<Clock> clocks(numEngines, Clock(2 * maxEngines));
    uint32_t first = 0;
    for (int step = 0; step < 50; ++step) {
      if (random() % 20 == 0) { // the next group of cores
        first += 2 * maxEngines;
        clocks.assign(numEngines, Clock(2 * maxEngines));
      }
      unsigned e = random() % numEngines, other = random() % numEngines;
      if (random() % 3 == 0) { // engine e waits for `other`
        for (unsigned i = 0; i < 2 * maxEngines; ++i)
          clocks[e][i] = std::max(clocks[e][i], clocks[other][i]);
        continue;
      }
      bool write = random() % 3 == 0, add = write && random() % 3 == 0;
      uint64_t begin = random() % 100, length = 1 + random() % 28;
      if (random() % 2)
        begin = begin / 32 * 32, length = 32;
      Event event{first + places[e], ++clocks[e][places[e]]};
      Known known{clocks[e].data(), first};
      bool expected = false;
      for (uint64_t b = begin; b < begin + length; ++b)
        for (const Byte::Past &p : bytes[b].past)
          if ((p.write || write) && !(p.add && add && p.event.core() != event.core()) &&
              (p.event.engine < first || !known.has(p.event.engine - first, p.event.time)))
            expected = true;
      Conflict conflict;
      if (write)
        shadow.write(begin, length, event, known, add, conflict);
      else
        shadow.read(begin, length, event, known, conflict);
      ASSERT_EQ(conflict.found, expected) << round << " " << step;
      if (expected) {
        EXPECT_TRUE(conflict.byte >= begin && conflict.byte < begin + length);
        break; // a launch ends at its first fault
      }
      for (uint64_t b = begin; b < begin + length; ++b)
        bytes[b].past.push_back({event, write, add});
    }
  }
}

} // namespace
