// Scalar code, loops, flags, FIFOs, and every kind of fault.
#include "VectorHarness.h"

#include <bit>

using namespace pto_mlir;
using namespace pto_mlir::cmodel::test;
using isa::Memory;
using isa::Pipe;
using isa::Value;

namespace {

isa::Tile rowTile(Value address, int64_t cols = 8) {
  isa::Tile t = tile(isa::ElementType::f32, isa::Layout::ND, 0, 1, 8, 1, cols);
  t.address = address;
  return t;
}

isa::TStore store(isa::View dst, isa::Tile src, isa::AtomicMode atomic = isa::AtomicMode::none) {
  isa::TStore s;
  s.dst = dst, s.src = src, s.space = Memory::UB, s.atomic = atomic;
  return s;
}

/// Evaluates scalar instructions on S and returns the result, transferred through the number of valid columns of a row
/// and a global memory offset.
int64_t evaluate(const std::function<void(TestKernel &)> &insns) {
  // r0 holds the result. It leaves through a tile whose address, valid columns and view offset are constant: its halves
  // are pushed to V, which fills tiles with them.
  TestDevice device;
  TestKernel k(isa::CoreKind::AIV, 1);
  insns(k);
  k.add(Pipe::S, isa::Push{Value::reg(0), Pipe::V});
  k.add(Pipe::S, isa::Shr{1, Value::reg(0), 32});
  k.add(Pipe::S, isa::Push{Value::reg(1), Pipe::V});
  for (int i = 0; i < 2; ++i) {
    k.add(Pipe::V, isa::Pop{5, Pipe::V});
    k.add(Pipe::V, isa::TExpands{tile(isa::ElementType::i32, isa::Layout::ND, 32 * i, 1, 8), Value::reg(5)});
  }
  k.sync(Pipe::V, Pipe::MTE3);
  k.add(Pipe::MTE3,
        store(view(0, isa::ElementType::i32, 1, 1), tile(isa::ElementType::i32, isa::Layout::ND, 0, 1, 8, 1, 1)));
  k.add(Pipe::MTE3, store(view(0, isa::ElementType::i32, 1, 1, -1, 4),
                          tile(isa::ElementType::i32, isa::Layout::ND, 32, 1, 8, 1, 1)));
  std::vector<pto_arg> args{device.upload(std::vector<int64_t>(1))};
  EXPECT_EQ(device.run(k, args, 1, {41, -42}), PTO_OK) << device.error();
  return device.download<int64_t>(args[0])[0];
}

template <class I> int64_t binary(int64_t a, int64_t b) {
  return evaluate([&](TestKernel &k) {
    k.add(Pipe::S, isa::Li{2, a}).add(Pipe::S, isa::Li{3, b}).add(Pipe::S, I{0, Value::reg(2), Value::reg(3)});
  });
}

TEST(Scalar, Arithmetic) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min(), big = 0x123456789abcdef0;
  EXPECT_EQ(binary<isa::Add>(big, 5), big + 5);
  EXPECT_EQ(binary<isa::Sub>(least, 1), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(binary<isa::Mul>(1ll << 40, 1ll << 22), 1ll << 62);
  EXPECT_EQ(binary<isa::Div>(-7, 2), -4);
  EXPECT_EQ(binary<isa::Div>(7, -2), -4);
  EXPECT_EQ(binary<isa::Div>(-8, 2), -4);
  EXPECT_EQ(binary<isa::Div>(least, -1), least);
  EXPECT_EQ(binary<isa::Rem>(-7, 2), 1);
  EXPECT_EQ(binary<isa::Rem>(7, -2), -1);
  EXPECT_EQ(binary<isa::Rem>(least, -1), 0);
  EXPECT_EQ(binary<isa::Min>(-3, 4), -3);
  EXPECT_EQ(binary<isa::Max>(-3, 4), 4);
  EXPECT_EQ(binary<isa::And>(12, 10), 8);
  EXPECT_EQ(binary<isa::Or>(12, 10), 14);
  EXPECT_EQ(binary<isa::Xor>(12, 10), 6);
  EXPECT_EQ(binary<isa::Shl>(3, 40), 3ll << 40);
  EXPECT_EQ(binary<isa::Shr>(-16, 2), -4);
}

TEST(Scalar, CompareSelectGet) {
  auto compare = [](isa::CompareMode mode, int64_t a, int64_t b) {
    return evaluate([&](TestKernel &k) { k.add(Pipe::S, isa::Cmp{0, mode, a, b}); });
  };
  using M = isa::CompareMode;
  for (auto [a, b] : {std::pair<int64_t, int64_t>{1, 2}, {2, 2}, {3, 2}}) {
    EXPECT_EQ(compare(M::eq, a, b), a == b);
    EXPECT_EQ(compare(M::ne, a, b), a != b);
    EXPECT_EQ(compare(M::lt, a, b), a < b);
    EXPECT_EQ(compare(M::le, a, b), a <= b);
    EXPECT_EQ(compare(M::gt, a, b), a > b);
    EXPECT_EQ(compare(M::ge, a, b), a >= b);
  }
  EXPECT_EQ(evaluate([](TestKernel &k) { k.add(Pipe::S, isa::Select{0, 7, 10, 20}); }), 10);
  EXPECT_EQ(evaluate([](TestKernel &k) { k.add(Pipe::S, isa::Select{0, 0, 10, 20}); }), 20);
  EXPECT_EQ(evaluate([](TestKernel &k) { k.add(Pipe::S, isa::Get{0, isa::Query(4)}); }), 41);
  EXPECT_EQ(evaluate([](TestKernel &k) { k.add(Pipe::S, isa::Get{0, isa::Query(5)}); }), -42);
  EXPECT_EQ(evaluate([](TestKernel &k) { k.add(Pipe::S, isa::Get{0, isa::Query::block_num}); }), 1);
  EXPECT_EQ(evaluate([](TestKernel &k) { k.add(Pipe::S, isa::Get{0, isa::Query::subblock_num}); }), 2);
}

TEST(Scalar, NestedLoopsAndSkips) {
  // The sum of i * 10 + j for i in 0, 2, 4 and j in 1..i-1, except pairs with j = 3.
  int64_t sum = evaluate([](TestKernel &k) {
    k.add(Pipe::S, isa::Mov{0, 0});
    k.add(Pipe::S, isa::Loop{1, 0, 5, 2});
    k.add(Pipe::S, isa::Loop{2, 1, Value::reg(1), 1});
    k.add(Pipe::S, isa::Cmp{3, isa::CompareMode::ne, Value::reg(2), 3});
    TestKernel body(isa::CoreKind::AIV, 1);
    body.add(Pipe::S, isa::Mul{4, Value::reg(1), 10})
        .add(Pipe::S, isa::Add{0, Value::reg(0), Value::reg(4)})
        .add(Pipe::S, isa::Add{0, Value::reg(0), Value::reg(2)});
    k.add(Pipe::S, isa::SkipIfZero{Value::reg(3), int64_t(body.position(Pipe::S))});
    k.add(Pipe::S, isa::Mul{4, Value::reg(1), 10})
        .add(Pipe::S, isa::Add{0, Value::reg(0), Value::reg(4)})
        .add(Pipe::S, isa::Add{0, Value::reg(0), Value::reg(2)});
    k.add(Pipe::S, isa::End{}).add(Pipe::S, isa::End{});
  });
  int64_t expected = 0;
  for (int i = 0; i < 5; i += 2)
    for (int j = 1; j < i; ++j)
      expected += j == 3 ? 0 : i * 10 + j;
  EXPECT_EQ(sum, expected);
}

TEST(Scalar, Floats) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN(),
              tiny = 0x1p-140f;
  const float values[] = {0.0f, -0.0f, 1.5f, -2.25f, 3.4e38f, 1e-8f, tiny, inf, -inf, nan};
  auto word = [](float x) { return int64_t(std::bit_cast<int32_t>(x)); };
  auto same = [](int64_t got, float expected) {
    float value = std::bit_cast<float>(int32_t(got));
    return std::isnan(expected) ? std::isnan(value) : std::bit_cast<int32_t>(value) == std::bit_cast<int32_t>(expected);
  };
  // One kernel for all pairs; S stores each result to its own element.
  using Op = isa::FloatOp;
  std::vector<std::pair<isa::Farith, float>> sums;
  std::vector<std::pair<isa::Fcmp, bool>> questions;
  for (float a : values)
    for (float b : values) {
      auto add = [&](Op op, float expected) { sums.push_back({{0, op, word(a), word(b)}, expected}); };
      bool unordered = std::isnan(a) || std::isnan(b);
      add(Op::add, a + b), add(Op::sub, a - b), add(Op::mul, a * b), add(Op::div, a / b), add(Op::rem, std::fmod(a, b));
      bool zeros = a == 0 && b == 0;
      float greatest = zeros ? (std::signbit(a) && std::signbit(b) ? -0.0f : 0.0f) : std::max(a, b);
      float least = zeros ? (std::signbit(a) || std::signbit(b) ? -0.0f : 0.0f) : std::min(a, b);
      add(Op::maximum, unordered ? nan : greatest), add(Op::minimum, unordered ? nan : least);
      add(Op::maxnum, std::isnan(a)   ? b
                      : std::isnan(b) ? a
                                      : greatest),
          add(Op::minnum, std::isnan(a)   ? b
                          : std::isnan(b) ? a
                                          : least);
      const bool ordered[] = {false, a == b, a > b, a >= b, a < b, a <= b, a != b, true};
      for (unsigned mode = 0; mode < 16; ++mode) {
        bool expected = mode < 8 ? !unordered && ordered[mode]
                                 : unordered || (mode == 14 ? false : mode == 15 || ordered[mode - 7]);
        questions.push_back({{0, isa::FloatCompare(mode), word(a), word(b)}, expected});
      }
    }
  const std::pair<isa::Fcvt, float> casts[] = {{{0, isa::ScalarCast::from_signed, 16777217}, 16777216.0f},
                                               {{0, isa::ScalarCast::from_signed, -3}, -3.0f},
                                               {{0, isa::ScalarCast::from_unsigned, -1}, 0x1p64f},
                                               {{0, isa::ScalarCast::round_f16, word(65520.0f)}, inf},
                                               {{0, isa::ScalarCast::round_f16, word(0.1f)}, 0.0999755859375f},
                                               {{0, isa::ScalarCast::round_bf16, word(0.1f)}, 0.10009765625f}};
  const std::pair<isa::Fcvt, int32_t> integers[] = {
      {{0, isa::ScalarCast::to_signed, word(-2.75f)}, -2},
      {{0, isa::ScalarCast::to_signed, word(nan)}, 0},
      {{0, isa::ScalarCast::to_unsigned, word(3e9f)}, int32_t(3000000000u)},
      {{0, isa::ScalarCast::to_unsigned, word(-1.0f)}, 0}};
  size_t count = sums.size() + questions.size() + std::size(casts) + std::size(integers);
  TestDevice device;
  TestKernel k(isa::CoreKind::AIV, 1);
  int64_t at = 0;
  auto keep = [&](auto insn) {
    k.add(Pipe::S, insn);
    k.add(Pipe::S, isa::StoreScalar{view(0, isa::ElementType::i32, 1, 1, -1, 4 * at++), Value::reg(0)});
  };
  for (auto &[insn, expected] : sums)
    keep(insn);
  for (auto &[insn, expected] : questions)
    keep(insn);
  for (auto &[insn, expected] : casts)
    keep(insn);
  for (auto &[insn, expected] : integers)
    keep(insn);
  std::vector<pto_arg> args{device.upload(std::vector<int32_t>(count))};
  ASSERT_EQ(device.run(k, args), PTO_OK) << device.error();
  std::vector<int32_t> got = device.download<int32_t>(args[0]);
  const int32_t *result = got.data();
  for (auto &[insn, expected] : sums)
    EXPECT_TRUE(same(*result++, expected))
        << "op " << int(insn.op) << " of " << insn.lhs.value << ", " << insn.rhs.value;
  for (auto &[insn, expected] : questions)
    EXPECT_EQ(*result++, int32_t(expected))
        << "mode " << int(insn.mode) << " of " << insn.lhs.value << ", " << insn.rhs.value;
  for (auto &[insn, expected] : casts)
    EXPECT_TRUE(same(*result++, expected)) << "cast " << int(insn.cast) << " of " << insn.src.value;
  for (auto &[insn, expected] : integers)
    EXPECT_EQ(*result++, expected) << "cast " << int(insn.cast) << " of " << insn.src.value;
}

TEST(Scalar, Breaks) {
  // The sum of i * 10 + j, where a break ends j before 2 and i after 30.
  int64_t sum = evaluate([](TestKernel &k) {
    k.add(Pipe::S, isa::Mov{0, 0}).add(Pipe::S, isa::Loop{1, 0, 100, 10});
    k.add(Pipe::S, isa::Loop{2, 0, 9, 1}).add(Pipe::S, isa::Cmp{3, isa::CompareMode::lt, Value::reg(2), 2});
    k.add(Pipe::S, isa::BreakIfZero{Value::reg(3)});
    k.add(Pipe::S, isa::Add{0, Value::reg(0), Value::reg(1)})
        .add(Pipe::S, isa::Add{0, Value::reg(0), Value::reg(2)})
        .add(Pipe::S, isa::End{});
    k.add(Pipe::S, isa::Cmp{3, isa::CompareMode::lt, Value::reg(1), 30})
        .add(Pipe::S, isa::BreakIfZero{Value::reg(3)})
        .add(Pipe::S, isa::End{});
  });
  EXPECT_EQ(sum, 2 * (0 + 10 + 20 + 30) + 4 * 1);
}

TEST(Scalar, LoadScalar) {
  TestDevice device;
  TestKernel k(isa::CoreKind::AIV, 2);
  isa::View element = view(0, isa::ElementType::f16, 1, 1, -1, 6);
  k.add(Pipe::S, isa::LoadScalar{1, element}).add(Pipe::S, isa::Push{Value::reg(1), Pipe::V});
  k.add(Pipe::V, isa::Pop{1, Pipe::V}).add(Pipe::V, isa::TExpands{rowTile(0), Value::reg(1)});
  k.sync(Pipe::V, Pipe::MTE3).add(Pipe::MTE3, store(view(1, isa::ElementType::f32, 1, 8), rowTile(0)));
  std::vector<pto_arg> args{device.upload(std::vector<half>{half(1), half(2), half(3), half(-4.5f)}),
                            device.upload(std::vector<float>(8))};
  ASSERT_EQ(device.run(k, args), PTO_OK) << device.error();
  EXPECT_EQ(device.download<float>(args[1]), std::vector<float>(8, -4.5f));
}

// --- launches on many cores ---

TEST(Launch, ResultsDoNotDependOnBlocksOrThreads) {
  // Each core processes rows (2 * block + sub), + 2 * blocks, ...: y = exp(x) * 3.
  constexpr int rows = 131, cols = 64;
  auto x = randomFloats(rows * cols, 1);
  std::vector<float> first;
  for (uint32_t threads : {1u, 4u})
    for (uint32_t blocks : {1u, 2u, 24u}) {
      TestDevice device(threads);
      TestKernel k(isa::CoreKind::AIV, 2);
      auto each = [&](Pipe p, const std::function<void()> &body) {
        k.add(p, isa::Get{0, isa::Query::block_idx})
            .add(p, isa::Get{1, isa::Query::subblock_idx})
            .add(p, isa::Get{2, isa::Query::block_num});
        k.add(p, isa::Mul{0, Value::reg(0), 2})
            .add(p, isa::Add{0, Value::reg(0), Value::reg(1)})
            .add(p, isa::Mul{2, Value::reg(2), 2});
        k.add(p, isa::Loop{3, Value::reg(0), rows, Value::reg(2)}).add(p, isa::Mul{4, Value::reg(3), cols * 4});
        body();
        k.add(p, isa::End{});
      };
      isa::Tile t = tile(isa::ElementType::f32, isa::Layout::ND, 0, 1, cols);
      isa::View in = view(0, isa::ElementType::f32, 1, cols), out = view(1, isa::ElementType::f32, 1, cols);
      in.offset = out.offset = Value::reg(4);
      k.add(Pipe::MTE3, isa::SetFlag{Pipe::MTE3, Pipe::MTE2, 0});
      each(Pipe::MTE2, [&] {
        k.add(Pipe::MTE2, isa::WaitFlag{Pipe::MTE3, Pipe::MTE2, 0}).add(Pipe::MTE2, isa::TLoad{t, in, Memory::UB});
        k.add(Pipe::MTE2, isa::SetFlag{Pipe::MTE2, Pipe::V, 0});
      });
      k.add(Pipe::MTE2, isa::WaitFlag{Pipe::MTE3, Pipe::MTE2, 0});
      each(Pipe::V, [&] {
        k.add(Pipe::V, isa::WaitFlag{Pipe::MTE2, Pipe::V, 0}).add(Pipe::V, isa::TExp{t, t});
        k.add(Pipe::V, isa::TMuls{t, t, int64_t(0x40400000)}).add(Pipe::V, isa::SetFlag{Pipe::V, Pipe::MTE3, 0});
      });
      each(Pipe::MTE3, [&] {
        k.add(Pipe::MTE3, isa::WaitFlag{Pipe::V, Pipe::MTE3, 0}).add(Pipe::MTE3, store(out, t));
        k.add(Pipe::MTE3, isa::SetFlag{Pipe::MTE3, Pipe::MTE2, 0});
      });
      std::vector<pto_arg> args{device.upload(x), device.upload(std::vector<float>(rows * cols))};
      ASSERT_EQ(device.run(k, args, blocks), PTO_OK) << device.error();
      auto y = device.download<float>(args[1]);
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(y[i], 3 * std::exp(x[i]), 1e-5 * std::exp(x[i]));
      if (first.empty())
        first = y;
      EXPECT_EQ(std::memcmp(first.data(), y.data(), y.size() * 4), 0);
      pto_profile p = device.profile();
      EXPECT_EQ(p.launches, 1u);
      EXPECT_EQ(p.gm_bytes_read, rows * cols * 4u);
      EXPECT_EQ(p.gm_bytes_written, rows * cols * 4u);
      EXPECT_GT(p.instructions, rows * 8u);
    }
}

TEST(Launch, AtomicAdditionsHaveOneOrder) {
  std::vector<float> first;
  for (uint32_t threads : {1u, 4u}) {
    TestDevice device(threads);
    TestKernel k(isa::CoreKind::AIV, 2);
    isa::View in = view(0, isa::ElementType::f32, 1, 8);
    in.offset = Value::reg(1);
    k.add(Pipe::MTE2, isa::Get{0, isa::Query::block_idx}).add(Pipe::MTE2, isa::Mul{1, Value::reg(0), 32});
    k.add(Pipe::MTE2, isa::TLoad{rowTile(0), in, Memory::UB}).sync(Pipe::MTE2, Pipe::MTE3);
    k.add(Pipe::MTE3, store(view(1, isa::ElementType::f32, 1, 8), rowTile(0), isa::AtomicMode::add));
    std::vector<pto_arg> args{device.upload(randomFloats(16 * 8, 1)), device.upload(std::vector<float>(8))};
    ASSERT_EQ(device.run(k, args, 16), PTO_OK) << device.error();
    auto sum = device.download<float>(args[1]);
    if (first.empty())
      first = sum;
    EXPECT_EQ(first, sum);
  }
}

// --- faults ---

void expectFault(TestKernel &k, const char *kind, const char *engine, const char *message, uint32_t blocks = 1,
                 uint32_t block = 0) {
  for (uint32_t threads : {1u, 3u}) {
    TestDevice device(threads);
    std::vector<pto_arg> args;
    args.reserve(k.numArgs);
    for (uint32_t i = 0; i < k.numArgs; ++i)
      args.push_back(device.upload(std::vector<float>(64)));
    ASSERT_EQ(device.run(k, args, blocks), PTO_ERROR_FAULT) << device.error();
    pto_fault f = device.fault();
    EXPECT_STREQ(f.kind, kind) << f.message;
    EXPECT_STREQ(f.kernel, "test");
    EXPECT_STREQ(f.engine, engine);
    EXPECT_EQ(f.block, block);
    EXPECT_NE(std::string(f.message).find(message), std::string::npos) << f.message;
    EXPECT_NE(device.error().find(message), std::string::npos);
    // The context stays usable.
    TestKernel empty(isa::CoreKind::AIV, 0);
    EXPECT_EQ(device.run(empty, {}), PTO_OK);
  }
}

TEST(Fault, Deadlock) {
  TestKernel k(isa::CoreKind::AIV, 0);
  k.add(Pipe::V, isa::WaitFlag{Pipe::MTE2, Pipe::V, 3}).add(Pipe::V, isa::SetFlag{Pipe::V, Pipe::MTE2, 0});
  k.add(Pipe::MTE2, isa::WaitFlag{Pipe::V, Pipe::MTE2, 0}).add(Pipe::MTE2, isa::SetFlag{Pipe::MTE2, Pipe::V, 3});
  expectFault(k, "deadlock", "AIV0.0 V",
              "V (word 0) waits for flag MTE2 -> V id 3; MTE2 (word 0) waits for flag V -> MTE2 id 0");
  TestKernel pop(isa::CoreKind::AIV, 0);
  pop.add(Pipe::V, isa::Pop{0, Pipe::V});
  expectFault(pop, "deadlock", "AIV0.0 V", "V (word 0) waits for a value from S");
}

TEST(Fault, Flags) {
  TestKernel twice(isa::CoreKind::AIV, 0);
  twice.add(Pipe::MTE2, isa::SetFlag{Pipe::MTE2, Pipe::V, 1}).add(Pipe::MTE2, isa::SetFlag{Pipe::MTE2, Pipe::V, 1});
  expectFault(twice, "flag", "AIV0.0 MTE2", "flag MTE2 -> V id 1 is raised twice");
  TestKernel left(isa::CoreKind::AIV, 0);
  left.add(Pipe::MTE2, isa::SetFlag{Pipe::MTE2, Pipe::V, 1});
  expectFault(left, "flag", "AIV0.0 MTE2", "flag MTE2 -> V id 1 is still raised at the end");
  TestKernel id(isa::CoreKind::AIV, 0);
  id.add(Pipe::MTE2, isa::Mov{0, 8}).add(Pipe::MTE2, isa::SetFlag{Pipe::MTE2, Pipe::V, Value::reg(0)});
  expectFault(id, "flag", "AIV0.0 MTE2", "flag id 8");
  TestKernel fifo(isa::CoreKind::AIV, 0);
  fifo.add(Pipe::S, isa::Push{5, Pipe::V});
  expectFault(fifo, "flag", "AIV0.0 S", "still holds 1 values");
}

TEST(Fault, Scalars) {
  for (bool remainder : {false, true}) {
    TestKernel k(isa::CoreKind::AIV, 0);
    k.add(Pipe::S, isa::Mov{0, 0});
    if (remainder)
      k.add(Pipe::S, isa::Rem{1, 5, Value::reg(0)});
    else
      k.add(Pipe::S, isa::Div{1, 5, Value::reg(0)});
    expectFault(k, "zero-divisor", "AIV0.0 S", "of 5 by 0");
  }
  TestKernel loop(isa::CoreKind::AIV, 0);
  loop.add(Pipe::S, isa::Mov{0, 0}).add(Pipe::S, isa::Loop{1, 0, 5, Value::reg(0)}).add(Pipe::S, isa::End{});
  expectFault(loop, "loop-step", "AIV0.0 S", "step 0");
  TestKernel get(isa::CoreKind::AIV, 0);
  get.add(Pipe::S, isa::Get{0, isa::Query(4)});
  expectFault(get, "out-of-range", "AIV0.0 S", "scalar argument 0 of 0");
}

TEST(Fault, LocalAddresses) {
  auto at = [](int64_t address) {
    TestKernel k(isa::CoreKind::AIV, 0);
    k.add(Pipe::V, isa::Li{7, address}).add(Pipe::V, isa::TExpands{rowTile(Value::reg(7)), 0});
    return k;
  };
  TestKernel k = at(16);
  expectFault(k, "misaligned", "AIV0.0 V", "UB address 16 is not a multiple of 32");
  for (int64_t address : {int64_t(192 << 10), int64_t(-32), int64_t(1) << 40}) {
    k = at(address);
    expectFault(k, "out-of-range", "AIV0.0 V", "UB bytes [");
  }
  TestKernel valid(isa::CoreKind::AIV, 0);
  isa::Tile t = rowTile(0);
  t.validCols = Value::reg(0);
  valid.add(Pipe::V, isa::Mov{0, 9}).add(Pipe::V, isa::TExpands{t, 0});
  expectFault(valid, "illegal-shape", "AIV0.0 V", "valid region 1x9 of a tile of 1x8");
}

TEST(Fault, GlobalAddresses) {
  auto load = [](int64_t offset, int64_t size, int64_t stride, int64_t cols = 8) {
    TestKernel k(isa::CoreKind::AIV, 1);
    isa::View v = view(0, isa::ElementType::f32, 1, 0);
    v.offset = Value::reg(0), v.sizes[1] = Value::reg(1), v.strides[1] = Value::reg(2);
    k.add(Pipe::MTE2, isa::Li{0, offset}).add(Pipe::MTE2, isa::Li{1, size}).add(Pipe::MTE2, isa::Li{2, stride});
    k.add(Pipe::MTE2, isa::TLoad{rowTile(0, cols), v, Memory::UB});
    return k;
  };
  TestKernel k = load(232, 8, 1); // the argument has 256 bytes
  expectFault(k, "out-of-range", "AIV0.0 MTE2", "leave the argument");
  k = load(0, 8, 10);
  expectFault(k, "out-of-range", "AIV0.0 MTE2", "leave the argument");
  k = load(0, 8, -1);
  expectFault(k, "out-of-range", "AIV0.0 MTE2", "leave the argument");
  for (int64_t offset :
       {int64_t(-4), int64_t(260), std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    k = load(offset, 8, 1);
    expectFault(k, "out-of-range", "AIV0.0 MTE2", "offset");
  }
  k = load(0, 7, 1);
  expectFault(k, "illegal-shape", "AIV0.0 MTE2", "smaller than the tile");
  k = load(0, 0, 1);
  expectFault(k, "illegal-shape", "AIV0.0 MTE2", "smaller than the tile");
  for (int64_t huge : {int64_t(-1), int64_t(1) << 40}) {
    k = load(0, huge, 1);
    expectFault(k, "illegal-shape", "AIV0.0 MTE2", "dimension 1");
  }
  k = load(0, 8, int64_t(1) << 50);
  expectFault(k, "illegal-shape", "AIV0.0 MTE2", "dimension 1");
}

TEST(Fault, TheLowestBlockIsReported) {
  TestKernel k(isa::CoreKind::AIV, 0);
  k.add(Pipe::S, isa::Get{0, isa::Query::block_idx}).add(Pipe::S, isa::Cmp{1, isa::CompareMode::lt, Value::reg(0), 5});
  k.add(Pipe::S, isa::Div{2, 5, Value::reg(1)});
  expectFault(k, "zero-divisor", "AIV5.0 S", "by 0", 24, 5);
}

/// What tests' own architecture lacks (test/isa/TestArchs.td).
TEST(Api, RefusesCommandsOfAMissingEngine) {
  TestKernel k(isa::CoreKind::AIV, 0);
  k.add(Pipe::MTE3, isa::Barrier{Pipe::ALL});
  EXPECT_EQ(TestDevice().run(k, {}), PTO_OK);
  TestDevice device(1, pto_mlir::cmodel::levelApi(), "functional", "t7");
  EXPECT_EQ(device.run(k, {}), PTO_ERROR_BAD_KERNEL);
  EXPECT_NE(device.error().find("t7 has no engine MTE3"), std::string::npos) << device.error();
}

TEST(Api, RefusesWhatIsWrong) {
  TestDevice device;
  TestKernel k(isa::CoreKind::AIV, 1);
  pto_arg arg = device.upload(std::vector<float>(8));
  EXPECT_EQ(device.run(k, {}), PTO_ERROR_INVALID);
  EXPECT_NE(device.error().find("takes 1 arguments, got 0"), std::string::npos);
  EXPECT_EQ(device.run(k, {pto_arg{arg.address, 64}}), PTO_ERROR_INVALID);
  EXPECT_EQ(device.run(k, {arg}, 0), PTO_ERROR_INVALID);
  k.words[{isa::CoreKind::AIV, Pipe::V}] = {0x3ff, 0};
  EXPECT_EQ(device.run(k, {arg}), PTO_ERROR_BAD_KERNEL);
  EXPECT_NE(device.error().find("kernel 'test', stream 0 (AIV V), word 0"), std::string::npos) << device.error();
  TestKernel wrongPipe(isa::CoreKind::AIV, 0);
  wrongPipe.words[{isa::CoreKind::AIV, Pipe::M}] = {};
  EXPECT_EQ(device.run(wrongPipe, {}), PTO_ERROR_BAD_KERNEL);
  uint64_t address;
  EXPECT_EQ(device.api->alloc(device.context, uint64_t(1) << 60, &address), PTO_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(device.api->free(device.context, arg.address + 1), PTO_ERROR_INVALID);
  EXPECT_EQ(arg.address % 512, 0u);
  char byte = 0;
  EXPECT_EQ(device.api->copy_to_device(device.context, arg.address + 32, &byte, 1), PTO_ERROR_INVALID);
  EXPECT_EQ(device.api->copy_from_device(device.context, &byte, arg.address - 1, 1), PTO_ERROR_INVALID);
  EXPECT_EQ(device.api->free(device.context, arg.address), PTO_OK);
  pto_device_options options{"b7", "functional", 1};
  pto_device_context *context = nullptr;
  EXPECT_EQ(device.api->open(&options, &context), PTO_ERROR_INVALID);
  EXPECT_NE(std::string(device.api->last_error(nullptr)).find("unknown processor 'b7'"), std::string::npos);
}

} // namespace
