#include "Harness.h"

#include <random>
#include <set>

namespace pto_mlir::tasks {
namespace {

TaskId task(uint64_t local, unsigned ring = 0) { return TaskId::make(ring, local); }

std::set<uint64_t> find(const TensorMap &map, const Region &region, TensorMap::Access access) {
  std::set<uint64_t> found;
  map.lookup(region, access, [&](TaskId id) { found.insert(id.local()); });
  return found;
}

using IdSet = std::set<uint64_t>;

struct Map : TensorMap {
  explicit Map(uint32_t capacity) : TensorMap(capacity) {
    for (unsigned ring = 0; ring < kNumRings; ++ring)
      prepare(ring);
  }
  void drop(unsigned ring, uint64_t watermark) {
    retire(ring, watermark, [](TaskId, const Region &, Access) {});
  }
};

TEST(TensorMap, T08_InsertLookupOverwrite) {
  Map map(16);
  map.insert(Region::bytes(1000, 100), TensorMap::Writer, task(1));
  EXPECT_EQ(find(map, Region::bytes(1000, 100), TensorMap::Writer), IdSet{1});
  EXPECT_EQ(find(map, Region::bytes(1050, 1), TensorMap::Writer), IdSet{1});
  EXPECT_EQ(find(map, Region::bytes(900, 100), TensorMap::Writer), IdSet{}); // adjacent regions do not overlap
  EXPECT_EQ(find(map, Region::bytes(1100, 100), TensorMap::Writer), IdSet{});
  map.insert(Region::bytes(1000, 50), TensorMap::Writer, task(2)); // partial overlap: both remain
  EXPECT_EQ(find(map, Region::bytes(1000, 100), TensorMap::Writer), (IdSet{1, 2}));
  map.insert(Region::bytes(990, 200), TensorMap::Writer, task(3)); // covers both
  EXPECT_EQ(find(map, Region::bytes(1000, 100), TensorMap::Writer), IdSet{3});
  EXPECT_EQ(find(map, Region{}, TensorMap::Writer), IdSet{});
  map.insert(Region{}, TensorMap::Writer, task(4));
  EXPECT_EQ(map.used(0), 3u);
}

TEST(TensorMap, T08_ReadersAreKeptUntilAWriteCoversThem) {
  Map map(16);
  map.insert(Region::bytes(0x1000, 64), TensorMap::Writer, task(1));
  map.insert(Region::bytes(0x1000, 64), TensorMap::Reader, task(2));
  map.insert(Region::bytes(0x1020, 8), TensorMap::Reader, task(3));
  EXPECT_EQ(find(map, Region::bytes(0x1000, 64), TensorMap::Reader), (IdSet{2, 3}));
  EXPECT_EQ(find(map, Region::bytes(0x1000, 16), TensorMap::Reader), IdSet{2});
  map.insert(Region::bytes(0x1020, 8), TensorMap::Writer, task(4));
  EXPECT_EQ(find(map, Region::bytes(0x1000, 64), TensorMap::Reader), IdSet{2});
  EXPECT_EQ(find(map, Region::bytes(0x1000, 64), TensorMap::Writer), (IdSet{1, 4}));
}

TEST(TensorMap, T08_ManyEntriesAreFoundAndForgotten) {
  // More than the initial number of buckets; lookups must not depend on when the map grew or was cleared.
  Map map(4096);
  for (uint64_t round = 0; round < 3; ++round) {
    uint64_t first = 1 + round * 3000;
    for (uint64_t i = 0; i < 3000; ++i) {
      auto access = i % 3 ? TensorMap::Reader : TensorMap::Writer;
      map.insert(Region::bytes(0x100000 + i * 64, 64), access, task(first + i));
      if (i >= 100)
        EXPECT_EQ(find(map, Region::bytes(0x100000 + (i - 100) * 64, 64),
                       (i - 100) % 3 ? TensorMap::Reader : TensorMap::Writer),
                  IdSet{first + i - 100});
    }
    EXPECT_EQ(find(map, Region::bytes(0x100000, 3000 * 64), TensorMap::Writer).size(), 1000u);
    map.drop(0, first + 3000);
    EXPECT_EQ(map.used(0), 0u);
    EXPECT_EQ(find(map, Region::bytes(0x100000, 3000 * 64), TensorMap::Reader), IdSet{});
  }
}

Region block(uint64_t row, uint64_t column, uint64_t rows, uint64_t columns, uint32_t element = 4) {
  // A block of a matrix of 64 rows of 256 bytes at 0x10000.
  int64_t shape[] = {int64_t(rows), int64_t(columns)}, strides[] = {int64_t(256 / element), 1};
  return Region::view(0x10000 + row * 256 + column * element, element, 2, shape, strides);
}

TEST(TensorMap, T08_ColumnBlocksTilesAndCrossings) {
  EXPECT_FALSE(overlap(block(0, 0, 64, 32), block(0, 32, 64, 32))); // column blocks share rows, not bytes
  EXPECT_TRUE(overlap(block(0, 0, 64, 33), block(0, 32, 64, 32)));
  EXPECT_FALSE(overlap(block(0, 0, 16, 16), block(16, 0, 16, 16)));
  EXPECT_FALSE(overlap(block(0, 0, 16, 16), block(0, 16, 16, 16)));
  EXPECT_TRUE(overlap(block(8, 0, 16, 16), block(16, 8, 16, 16)));
  EXPECT_TRUE(overlap(block(10, 0, 1, 64), block(0, 20, 64, 1))); // row x column
  EXPECT_FALSE(overlap(block(10, 0, 1, 20), block(0, 20, 64, 1)));
  EXPECT_TRUE(covers(block(0, 0, 64, 64), block(3, 3, 5, 5)));
  EXPECT_FALSE(covers(block(0, 0, 64, 32), block(3, 30, 5, 5)));
  EXPECT_FALSE(covers(block(3, 3, 5, 5), block(0, 0, 64, 64)));
  // The same bytes as f16: 4-byte columns 8..15 are 2-byte columns 16..31.
  EXPECT_TRUE(overlap(block(0, 8, 4, 8), block(0, 31, 4, 1, 2)));
  EXPECT_FALSE(overlap(block(0, 8, 4, 8), block(0, 32, 4, 8, 2)));
}

TEST(TensorMap, T08_MixedElementTypesDepend) {
  // A writer of f32 bytes [0, 4096) and a reader of f16 bytes [3072, 4096) of the same buffer.
  int64_t f32[] = {1024}, f16[] = {512}, one[] = {1};
  Region writer = Region::view(0x4000, 4, 1, f32, one), reader = Region::view(0x4000 + 3072, 2, 1, f16, one);
  EXPECT_TRUE(overlap(writer, reader));
  EXPECT_TRUE(overlap(reader, writer));
  EXPECT_TRUE(covers(writer, reader));

  Config config = smallConfig();
  config.mode = Mode::VirtualTime;
  config.trace = true;
  auto runtime = make(config);
  KernelId work = add(*runtime, "work", [](KernelCall &) {});
  std::vector<char> buffer(4096);
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    submit(run, TaskSpec(work).output(Tensor::dense(buffer.data(), 4, {1024})));
    submit(run, TaskSpec(work).input(Tensor::dense(buffer.data() + 3072, 2, {512})));
    // Another base pointer into the same buffer.
    submit(run, TaskSpec(work).inout(Tensor::dense(buffer.data() + 3000, 1, {200})));
  }));
  ASSERT_EQ(runtime->trace().edges.size(), 3u);
}

TEST(TensorMap, T08_StridesLayoutsAndEmptyViews) {
  int64_t shape[] = {4, 8}, reversed[] = {-8, 1}, zero[] = {0, 1}, none[] = {0, 8}, dense[] = {8, 1};
  Region rows = Region::view(1000, 4, 2, shape, dense);
  EXPECT_EQ(rows.rows, 1u); // dense is one interval
  EXPECT_EQ(rows.span(), 128u);
  Region back = Region::view(1000 + 3 * 32, 4, 2, shape, reversed);
  EXPECT_EQ(back.begin, 1000u);
  EXPECT_EQ(back.end, 1128u);
  EXPECT_EQ(Region::view(1000, 4, 2, shape, zero).span(), 32u);
  EXPECT_TRUE(Region::view(1000, 4, 2, none, dense).empty());
  EXPECT_FALSE(overlap(Region::view(1000, 4, 2, none, dense), rows));
  // Different pitches are compared as intervals.
  int64_t wide[] = {100, 1}, narrow[] = {60, 1};
  Region a = Region::view(0, 1, 2, shape, wide), b = Region::view(10, 1, 2, shape, narrow);
  EXPECT_TRUE(overlap(a, b));
  // Three dimensions that are not rows of a common pitch are represented by their interval.
  int64_t cube[] = {2, 2, 2}, strides[] = {1000, 10, 1};
  EXPECT_EQ(Region::view(0, 1, 3, cube, strides).rows, 1u);
  int64_t even[] = {20, 10, 1};
  EXPECT_EQ(Region::view(0, 1, 3, cube, even).rows, 4u);
  // Addresses near the end of the address space.
  Region high = Region::bytes(~uint64_t(0) - 100, 50);
  EXPECT_TRUE(overlap(high, Region::bytes(~uint64_t(0) - 60, 20)));
  EXPECT_FALSE(overlap(high, Region::bytes(0, 20)));
}

TEST(TensorMap, T08_RandomRectanglesAgreeWithByteSets) {
  std::mt19937 random(3);
  auto pick = [&](int n) { return int64_t(random() % unsigned(n)); };
  for (int round = 0; round < 3000; ++round) {
    struct View {
      Region region;
      std::set<uint64_t> bytes;
    } views[2];
    int64_t pitch = 16 + pick(3) * 8;
    for (View &view : views) {
      int64_t shape[] = {1 + pick(5), 1 + pick(4)};
      uint32_t element = 1u << pick(3);
      int64_t strides[] = {pitch / element, 1};
      if (round % 4 == 0)
        strides[0] = 1 + pick(20);
      uint64_t address = 4096 + uint64_t(pick(160)) * (round % 2 ? 1 : element);
      view.region = Region::view(address, element, 2, shape, strides);
      for (int64_t i = 0; i < shape[0]; ++i)
        for (int64_t j = 0; j < shape[1]; ++j)
          for (uint32_t byte = 0; byte < element; ++byte)
            view.bytes.insert(address + uint64_t((i * strides[0] + j * strides[1]) * element + byte));
    }
    bool shared = false, all = true;
    for (uint64_t byte : views[1].bytes) {
      shared |= views[0].bytes.count(byte) != 0;
      all &= views[0].bytes.count(byte) != 0;
    }
    // No overlap is missed, and no cover is claimed wrongly.
    ASSERT_TRUE(!shared || overlap(views[0].region, views[1].region)) << round;
    ASSERT_EQ(overlap(views[0].region, views[1].region), overlap(views[1].region, views[0].region)) << round;
    ASSERT_TRUE(all || !covers(views[0].region, views[1].region)) << round;
    if (views[0].region.pitch == views[1].region.pitch && views[0].region.rows > 1 && views[1].region.rows > 1 &&
        round % 4)
      ASSERT_TRUE(shared || !overlap(views[0].region, views[1].region) ||
                  views[0].region.rowBytes + views[1].region.rowBytes > uint64_t(pitch))
          << round;
  }
}

TEST(TensorMap, T08_StaleEntriesAreRecycledInOrder) {
  Map map(8);
  for (uint64_t i = 1; i <= 100; ++i) {
    if (!map.hasRoom(0, 1))
      map.drop(0, i - 4);
    ASSERT_TRUE(map.hasRoom(0, 1));
    map.insert(Region::bytes(i * 64, 64), i % 2 ? TensorMap::Writer : TensorMap::Reader, task(i));
  }
  EXPECT_LE(map.used(0), 8u);
  EXPECT_EQ(find(map, Region::bytes(0, 1 << 20), TensorMap::Writer).count(99), 1u);
  EXPECT_EQ(find(map, Region::bytes(0, 1 << 20), TensorMap::Writer).count(3), 0u);
  map.drop(0, 101);
  EXPECT_EQ(map.used(0), 0u);
  EXPECT_EQ(find(map, Region::bytes(0, 1 << 20), TensorMap::Writer), IdSet{});
}

TEST(TensorMap, T08_RingsAreRecycledApart) {
  Map map(4);
  for (uint64_t i = 1; i <= 4; ++i) {
    map.insert(Region::bytes(i * 64, 64), TensorMap::Writer, task(i, 0));
    map.insert(Region::bytes(4096 + i * 64, 64), TensorMap::Writer, task(i + 10, 2));
  }
  EXPECT_FALSE(map.hasRoom(0, 1));
  EXPECT_FALSE(map.hasRoom(2, 1));
  EXPECT_TRUE(map.hasRoom(1, 4));
  map.drop(0, 5);
  EXPECT_TRUE(map.hasRoom(0, 4));
  EXPECT_FALSE(map.hasRoom(2, 1));
  EXPECT_EQ(find(map, Region::bytes(0, 1 << 20), TensorMap::Writer), (IdSet{11, 12, 13, 14}));
}

TEST(TensorMap, T08_AgreesWithAPlainListOfAllSizes) {
  std::mt19937_64 random(11);
  Map map(4096);
  std::vector<std::pair<Region, uint64_t>> plain;
  for (uint64_t i = 1; i <= 1500; ++i) {
    uint64_t size = 1 + random() % (uint64_t(1) << (random() % 18)), begin = random() % (1 << 18);
    Region region = Region::bytes(begin, size);
    IdSet expected;
    for (auto &[old, id] : plain)
      if (overlap(old, region))
        expected.insert(id);
    ASSERT_EQ(find(map, region, TensorMap::Writer), expected) << i;
    std::erase_if(plain, [&](auto &entry) { return covers(region, entry.first); });
    plain.push_back({region, i});
    map.insert(region, TensorMap::Writer, task(i));
  }
}

} // namespace
} // namespace pto_mlir::tasks
