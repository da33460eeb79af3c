#include "pto_mlir/ByteCode/KernelKey.h"

#include <gmock/gmock.h>

#include <map>
#include <random>

using namespace pto_mlir::bytecode;
using pto_mlir::ElementType;

namespace {

Type i32 = Type::scalar(ElementType::I32);
Type tensor(std::vector<int64_t> shape) { return {ElementType::F32, true, std::move(shape)}; }

TEST(KernelKey, NamesAreThoseOfTheFormat) {
  EXPECT_EQ(mangle({"device.add", {i32, i32}, {i32}, {}}), "device_add_sig_ii_i_ins_i32_i32_outs_i32");
  EXPECT_EQ(mangle({"python.print", {i32}, {}, {}}), "python_print_sig_i_ins_i32");
  EXPECT_EQ(mangle({"device.gather", {tensor({50257, 768}), {ElementType::I32, true, {16}}}, {tensor({16, 768})}, {}}),
            "device_gather_sig_tt_t_ins_50257x768xf32_16xi32_outs_16x768xf32");
  EXPECT_EQ(mangle({"device.transpose",
                    {tensor({2, kDynamic})},
                    {tensor({kDynamic, 2})},
                    {{"perm", std::vector<Number>{int64_t(1), int64_t(0)}}}}),
            "device_transpose_sig_t_t_ins_2xnxf32_outs_nx2xf32_perm_1_0");
}

/// Keys that would collide if their words were joined naively.
TEST(KernelKey, NamesDoNotCollideAndReadBack) {
  std::vector<KernelKey> keys = {
      {"device.a_b", {}, {}, {}},
      {"device.a.b", {}, {}, {}},
      {"device.a._b", {}, {}, {}},
      {"device.a_.b", {}, {}, {}},
      {"device.a..b", {}, {}, {}},
      {"device.sig.i", {}, {}, {}},
      {"device.Z", {}, {}, {}},
      {"device.x", {}, {}, {{"t", int64_t(1)}}},
      {"device.x", {i32}, {}, {{"t", int64_t(1)}}},
      {"device.x", {}, {i32}, {}},
      {"device.x", {}, {}, {{"a", int64_t(-1)}}},
      {"device.x", {}, {}, {{"a", 1.0}}},
      {"device.x", {}, {}, {{"a", 1e-5}}},
      {"device.x", {}, {}, {{"a", "1"}}},
      {"device.x", {}, {}, {{"a", "m1"}}},
      {"device.x", {}, {}, {{"a", "Zl0"}}},
      {"device.x", {}, {}, {{"a", ""}}},
      {"device.x", {}, {}, {{"a", std::vector<Number>{}}}},
      {"device.x", {}, {}, {{"a", std::vector<Number>{int64_t(1)}}}},
      {"device.x", {}, {}, {{"a", int64_t(1)}}},
      {"device.x", {}, {}, {{"a", std::vector<Number>{int64_t(1), int64_t(2)}}}},
      {"device.x", {}, {}, {{"a", int64_t(1)}, {"b", int64_t(2)}}},
      {"device.x", {}, {}, {{"a", std::vector<Number>{int64_t(1), 2.5}}, {"m1", int64_t(3)}}},
      {"device.x", {tensor({})}, {}, {}},
      {"device.x", {Type::scalar(ElementType::F32)}, {}, {}},
      {"device.x", {{ElementType::Boolean, true, {kDynamic, 3}}}, {}, {}},
  };
  std::map<std::string, KernelKey> seen;
  for (const KernelKey &key : keys) {
    std::string name = mangle(key);
    EXPECT_TRUE(seen.emplace(name, key).second) << name;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"),
              std::string::npos)
        << name;
    auto back = demangle(name);
    ASSERT_TRUE(back) << name;
    EXPECT_EQ(*back, key) << name;
  }
}

TEST(KernelKey, RandomKeysReadBack) {
  std::mt19937 random(7);
  auto below = [&](unsigned n) { return random() % n; };
  auto word = [&] {
    std::string text;
    for (unsigned i = below(5); i-- > 0;)
      text += "aZ_1.m x-iflt"[below(13)];
    return text;
  };
  auto type = [&]() -> Type {
    Type list[] = {
        i32, Type::scalar(ElementType::F64), tensor({}), tensor({3, kDynamic}), {ElementType::BF16, true, {0}}};
    return list[below(5)];
  };
  std::map<std::string, KernelKey> seen;
  for (int round = 0; round < 20000; ++round) {
    KernelKey key{"host.x" + word(), {}, {}, {}};
    for (unsigned i = below(3); i-- > 0;)
      key.operands.push_back(type());
    for (unsigned i = below(3); i-- > 0;)
      key.results.push_back(type());
    std::map<std::string, AttributeValue> attributes;
    for (unsigned i = below(3); i-- > 0;) {
      std::vector<Number> list(below(3), Number(int64_t(below(3)) - 1));
      AttributeValue values[] = {int64_t(below(5)) - 2, below(9) * 0.5, word(), list};
      attributes["a" + word()] = values[below(4)];
    }
    key.attributes.assign(attributes.begin(), attributes.end());
    std::string name = mangle(key);
    auto back = demangle(name);
    ASSERT_TRUE(back) << name;
    ASSERT_EQ(*back, key) << name;
    auto [it, isNew] = seen.emplace(name, key);
    ASSERT_TRUE(isNew || it->second == key) << name;
  }
}

TEST(KernelKey, OtherTextIsNoName) {
  for (const char *name :
       {"", "x", "device", "device_add", "device_add_sig", "device_add_sig_i", "device_add_sig_i_ins",
        "device_add_sig_i_ins_i33", "device_add_sig_f_ins_i32", "elsewhere_add_sig_v_v", "device_add_sig_v_v_a",
        "device_add_sig_v_v_b_1_a_1", "device_add_sig_v_v_a_01"})
    EXPECT_FALSE(demangle(name)) << name;
}

} // namespace
