// Strings: the table, and the operations that read or make them. What patterns match was asked of RE2 (onnxruntime),
// how strings are split of Python.
#include "pto_mlir/HostOps/Strings.h"
#include "pto_mlir/HostOps/TensorOps.h"

#include <gmock/gmock.h>

#include <cstring>
#include <thread>

using namespace pto_mlir;
using namespace pto_mlir::hostops;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {

using Shape = std::vector<int64_t>;
using Texts = std::vector<std::string>;
constexpr ElementType S = ElementType::String;

class Strings : public ::testing::Test {
protected:
  struct Operand {
    ElementType type;
    Shape shape;
    std::vector<std::byte> bytes;
  };
  Operand texts(Shape shape, const Texts &values) {
    std::vector<uint64_t> numbers;
    numbers.reserve(values.size());
    for (const std::string &value : values)
      numbers.push_back(*table.intern(value));
    return of(S, std::move(shape), numbers);
  }
  Operand texts(const Texts &values) { return texts({int64_t(values.size())}, values); }
  template <class T> Operand of(ElementType type, Shape shape, const std::vector<T> &values) {
    Operand made{type, std::move(shape), std::vector<std::byte>(values.size() * sizeof(T))};
    if (!values.empty())
      std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
    return made;
  }

  /// Runs an operation; `error` says what went wrong.
  Operand run(std::string_view name, const std::vector<Operand> &operands, ElementType to,
              const Parameters &parameters = {}) {
    std::vector<TensorView> inputs;
    inputs.reserve(operands.size());
    for (const Operand &operand : operands)
      inputs.push_back({operand.type, operand.shape, operand.bytes.data()});
    Operand made{to, {}, {}};
    Status status = runTensorOp({name, inputs, parameters, to,
                                 [&](const Shape &shape) {
                                   size_t count = elementBits(to) / 8;
                                   for (int64_t size : shape)
                                     count *= size_t(size);
                                   made.shape = shape;
                                   made.bytes.resize(std::max<size_t>(count, 1));
                                   return made.bytes.data();
                                 },
                                 &table});
    error = status ? "" : status.error();
    return made;
  }
  template <class T> std::vector<T> values(const Operand &operand) {
    std::vector<T> result(operand.bytes.size() / sizeof(T));
    std::memcpy(result.data(), operand.bytes.data(), result.size() * sizeof(T));
    return result;
  }
  Texts read(const Operand &operand) {
    Texts result;
    for (uint64_t number : values<uint64_t>(operand))
      result.emplace_back(table.text(number).value_or("(none)"));
    return result;
  }

  StringTable table;
  std::string error;
};

TEST_F(Strings, TheTableHasEachStringOnce) {
  EXPECT_EQ(*table.intern(""), 0U);
  uint64_t a = *table.intern("a"), zero = *table.intern(std::string_view("a\0b", 3));
  EXPECT_EQ(*table.intern("a"), a);
  EXPECT_NE(a, zero);
  EXPECT_EQ(table.text(zero)->size(), 3U);
  EXPECT_FALSE(table.text(99));
  table.clear();
  EXPECT_FALSE(table.text(a));
  EXPECT_EQ(table.text(0), "");
}

TEST_F(Strings, TheTableIsBounded) {
  std::string big(StringTable::kMostBytes / 4, 'x');
  for (int i = 0; i < 3; ++i, big += 'x')
    EXPECT_TRUE(table.intern(big));
  EXPECT_THAT(table.intern(big).error(), HasSubstr("a run holds at most"));
}

TEST_F(Strings, TheTableIsSharedByThreads) {
  std::vector<std::thread> threads;
  std::vector<uint64_t> numbers[2];
  for (auto &own : numbers)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        own.push_back(*table.intern(std::to_string(i)));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(numbers[0], numbers[1]);
}

TEST_F(Strings, LiteralsAreBytesAndLengths) {
  auto made =
      run("strings",
          {of<char>(ElementType::U8, {5}, {'a', 0, 'b', 'c', 'x'}), of<int64_t>(ElementType::I64, {3}, {2, 0, 2})}, S,
          {{"shape", Shape{3, 1}}});
  EXPECT_EQ(read(made), (Texts{std::string("a\0", 2), "", "bc"}));
  EXPECT_THAT(made.shape, ElementsAre(3, 1));
  for (const std::vector<int64_t> &lengths : {std::vector<int64_t>{6, 0}, {-1, 2}, {INT64_MAX, INT64_MAX}}) {
    run("strings", {of<char>(ElementType::U8, {5}, {1, 2, 3, 4, 5}), of(ElementType::I64, {2}, lengths)}, S,
        {{"shape", Shape{2}}});
    EXPECT_THAT(error, HasSubstr("more than its bytes"));
  }
  run("strings", {of<char>(ElementType::U8, {1}, {1}), of<int64_t>(ElementType::I64, {1}, {1})}, S,
      {{"shape", Shape{int64_t(1) << 40, int64_t(1) << 40}}});
  EXPECT_THAT(error, HasSubstr("bad shape"));
}

TEST_F(Strings, NumbersOfNoStringAreErrors) {
  auto wild = of<uint64_t>(S, {1}, {77});
  run("string_concat", {wild, texts({"a"})}, S);
  EXPECT_THAT(error, HasSubstr("no string of this run"));
  run("string_lookup", {wild, texts({"a"})}, ElementType::I64);
  EXPECT_EQ(error, "");
  const TensorView view{S, {1}, wild.bytes.data()};
  const TensorView both[] = {view, view};
  EXPECT_FALSE(runTensorOp({"string_concat", both, {}, S, [](const Shape &) { return nullptr; }})); // no table
}

TEST_F(Strings, ConcatenatesWithBroadcasting) {
  auto made = run("string_concat", {texts({2, 1}, {"a", "b"}), texts({"x", ""})}, S);
  EXPECT_THAT(read(made), ElementsAre("ax", "a", "bx", "b"));
  EXPECT_THAT(made.shape, ElementsAre(2, 2));
}

TEST_F(Strings, MovesAndComparesAndNoMore) {
  auto words = texts({"b", "a", "b", "c"});
  EXPECT_THAT(read(run("reshape", {words}, S, {{"shape", Shape{2, 2}}})), ElementsAre("b", "a", "b", "c"));
  auto equal = run("compare", {words, texts(Shape{}, {"b"})}, ElementType::Boolean, {{"mode", std::string("eq")}});
  EXPECT_THAT(values<uint8_t>(equal), ElementsAre(1, 0, 1, 0));
  auto chosen = run("where", {of<uint8_t>(ElementType::Boolean, {4}, {1, 0, 0, 1}), words, texts({"x"})}, S);
  EXPECT_THAT(read(chosen), ElementsAre("b", "x", "x", "c"));
  EXPECT_THAT(read(run("unique", {words}, S)), ElementsAre("a", "b", "c")); // by the strings, not their numbers
  EXPECT_THAT(values<int64_t>(run("unique_inverse", {words}, ElementType::I64)), ElementsAre(1, 0, 1, 2));
  run("compare", {words, words}, ElementType::Boolean, {{"mode", std::string("lt")}});
  EXPECT_THAT(error, HasSubstr("compared for equality"));
  ElementType two[] = {S, S}, one[] = {S};
  for (const char *name : {"add", "max", "bitand", "matmul"})
    EXPECT_FALSE(hasTensorOp(name, two)) << name;
  for (const char *name : {"bitcast", "topk_values", "neg", "reduce_max", "exp"})
    EXPECT_FALSE(hasTensorOp(name, one)) << name;
}

TEST_F(Strings, NormalizesCasesAndStopWords) {
  auto words = texts({"Mon", "\u00c9A", "stra\u00dfe", "mon"});
  auto run1 = [&](const char *kind, const Texts &stops, int64_t sensitive) {
    return read(run("string_normalize", {words, texts(stops)}, S,
                    {{"case", std::string(kind)}, {"case_sensitive", sensitive}}));
  };
  EXPECT_THAT(run1("upper", {}, 0), ElementsAre("MON", "\u00c9A", "STRA\u00dfE", "MON"));
  EXPECT_THAT(run1("lower", {"mon"}, 1), ElementsAre("mon", "\u00e9a", "stra\u00dfe"));
  EXPECT_THAT(run1("none", {"mon", "\u00e9a"}, 0), ElementsAre("stra\u00dfe"));
  EXPECT_THAT(run1("none", {"Mon", "\u00c9A", "stra\u00dfe"}, 0), ElementsAre(""));
  run("string_normalize", {texts({"\xff"}), texts(Texts{})}, S, {{"case", std::string("lower")}});
  EXPECT_THAT(error, HasSubstr("not UTF-8"));
}

TEST_F(Strings, SplitsAsPython) {
  auto split = [&](const Texts &words, const char *by, int64_t most = -1) {
    return read(run("string_split", {texts(words), texts({by})}, S, {{"maxsplit", most}}));
  };
  EXPECT_THAT(split({" a  b\tc ", "d"}, ""), ElementsAre("a", "b", "c", "d", "", ""));
  EXPECT_THAT(split({" a  b  c "}, "", 1), ElementsAre("a", "b  c "));
  EXPECT_THAT(split({"a,b,,c"}, ","), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(split({"a,b,,c"}, ",", 2), ElementsAre("a", "b", ",c"));
  EXPECT_THAT(split({"a b"}, "", 0), ElementsAre("a b"));
  EXPECT_THAT(split({"a\u00a0b\u2003c"}, ""), ElementsAre("a", "b", "c"));
  auto none = run("string_split", {texts({"  "}), texts({""})}, S);
  EXPECT_THAT(none.shape, ElementsAre(1, 0));
  auto counts = run("string_split_counts", {texts({"", "a b", "c"}), texts({""})}, ElementType::I64);
  EXPECT_THAT(values<int64_t>(counts), ElementsAre(0, 2, 1));
}

TEST_F(Strings, LooksUpKeys) {
  auto found = run("string_lookup", {texts({"b", "z", "a"}), texts({"a", "b", "a"})}, ElementType::I64,
                   {{"otherwise", int64_t(9)}});
  EXPECT_THAT(values<int64_t>(found), ElementsAre(1, 9, 0));
}

TEST_F(Strings, CastsAsOnnxruntime) {
  auto floats = of<float>(ElementType::F32, {6}, {0.1F, 1e10F, NAN, -INFINITY, 1.0F / 3, -0.0F});
  EXPECT_THAT(read(run("cast", {floats}, S)), ElementsAre("0.1", "1e+10", "NaN", "-INF", "0.33333334", "-0"));
  EXPECT_THAT(read(run("cast", {of<uint64_t>(ElementType::U64, {1}, {UINT64_MAX})}, S)),
              ElementsAre("18446744073709551615"));
  auto numbers = run("cast", {texts({"3.5", " 7", "1e-5", "-INF", "+2"})}, ElementType::F64);
  EXPECT_THAT(values<double>(numbers), ElementsAre(3.5, 7, 1e-5, -INFINITY, 2));
  EXPECT_THAT(values<int64_t>(run("cast", {texts({"-5", "007", "3.5"})}, ElementType::I64)), ElementsAre(-5, 7, 3));
  for (const char *text : {"", "abc", "1 2", "9223372036854775808", "9.3e18", "nan(1"}) {
    run("cast", {texts({text})}, ElementType::I64);
    EXPECT_THAT(error, HasSubstr("string 0 is no number of type i64")) << text;
  }
}

const Texts kTexts = {"abc",    "aa", "1x", "\u00e9", "\n",    "a.c", "ABC", "",     "aaa",
                      "\u00c9", "a",  "_",  "A",      "a{,2}", "{",   "]",   "ab\n", "a\n"};

struct Pattern {
  const char *pattern;
  const char *matches; ///< one digit per text
};
class Patterns : public Strings, public ::testing::WithParamInterface<Pattern> {};

TEST_P(Patterns, MatchWhatRE2Matches) {
  auto made = run("regex_full_match", {texts(kTexts), texts({GetParam().pattern})}, ElementType::Boolean);
  ASSERT_EQ(error, "") << GetParam().pattern;
  std::string matches;
  for (uint8_t one : values<uint8_t>(made))
    matches += one ? '1' : '0';
  EXPECT_EQ(matches, GetParam().matches) << GetParam().pattern;
}
INSTANTIATE_TEST_SUITE_P(
    RE2, Patterns,
    ::testing::Values(Pattern{"a.c", "100001000000000000"}, Pattern{"(?i)abc", "100000100000000000"},
                      Pattern{"a{2,3}", "010000001000000000"}, Pattern{"\\d+", "000000000000000000"},
                      Pattern{"[^\\W\\d]+", "110000101011100000"}, Pattern{"\u00e9|x", "000100000000000000"},
                      Pattern{"(a|b)*?c", "100000000000000000"}, Pattern{"^ab$", "000000000000000000"},
                      Pattern{"a\\b", "000000000010000000"}, Pattern{"[[:alpha:]]+", "110000101010100000"},
                      Pattern{"\\Qa.c\\E", "000001000000000000"}, Pattern{"(?s).", "000110000111101100"},
                      Pattern{".", "000100000111101100"}, Pattern{"\\x41", "000000000000100000"},
                      Pattern{"(?P<n>a)", "000000000010000000"}, Pattern{"(?m)^a$", "000000000010000000"},
                      Pattern{"[]a]", "000000000010000100"}, Pattern{"a\\z", "000000000010000000"},
                      Pattern{"(?:)", "000000010000000000"}, Pattern{"|a", "000000010010000000"},
                      Pattern{"(?i)\u00e9", "000100000100000000"}, Pattern{"(?U)a+", "010000001010000000"},
                      Pattern{"(?i:a)b", "000000000000000000"}, Pattern{"[\\x{41}-\\x{43}]+", "000000100000100000"},
                      Pattern{"{", "000000000000001000"}, Pattern{"a{,2}", "000000000000010000"},
                      Pattern{"]", "000000000000000100"}, Pattern{"((a*)*)*b?(c|\\.c)?", "110001011010000000"}));

TEST(Regex, RefusesWhatIsNone) {
  for (const char *pattern :
       {"a**", "x{1001}", "a++", "(?=a)a",      "[a-\\d]", "[a",    "(",       ")",     "a|*",        "\\",
        "\\1", "\\pL",    "\\C", "\\x{110000}", "x{2,1}",  "[b-a]", "(?P<>a)", "(?P<a", "[[:nope:]]", "\xff"})
    EXPECT_FALSE(checkRegex(pattern)) << pattern;
  EXPECT_THAT(checkRegex("a**").error(), HasSubstr("repeats a repetition"));
  EXPECT_THAT(checkRegex(std::string(100000, '(')).error(), HasSubstr("nested too deeply"));
  EXPECT_THAT(checkRegex("((((((a{1000}){1000}){1000}){1000}){1000}){1000})").error(), HasSubstr("more than"));
  EXPECT_THAT(checkRegex("((((((){1000}){1000}){1000}){1000}){1000}){1000}").error(), HasSubstr("too many"));
}

TEST_F(Strings, PatternsTakeLinearTime) {
  std::string text(20000, 'a');
  auto made = run("regex_full_match", {texts({text}), texts({"(a|a)*(a|aa)*(a*)*b"})}, ElementType::Boolean);
  EXPECT_THAT(values<uint8_t>(made), ElementsAre(0));
}

} // namespace
