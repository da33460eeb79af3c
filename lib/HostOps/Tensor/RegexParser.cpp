// Patterns: RE2's syntax, read by descent into fragments of a program.
#include "Regex.h"

#include "Unicode.h"

#include <algorithm>
#include <optional>
#include <string>

namespace pto_mlir::hostops {

namespace {

using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;
constexpr uint32_t kLast = 0x10ffff;

struct Named {
  std::string_view name;
  Ranges ranges;
};
const Named kNamed[] = {{"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
                        {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
                        {"ascii", {{0, 0x7f}}},
                        {"blank", {{'\t', '\t'}, {' ', ' '}}},
                        {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
                        {"digit", {{'0', '9'}}},
                        {"graph", {{'!', '~'}}},
                        {"lower", {{'a', 'z'}}},
                        {"print", {{' ', '~'}}},
                        {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
                        {"space", {{'\t', '\r'}, {' ', ' '}}},
                        {"upper", {{'A', 'Z'}}},
                        {"word", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}}},
                        {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}};

const Ranges *rangesNamed(std::string_view name) {
  for (const Named &row : kNamed)
    if (row.name == name)
      return &row.ranges;
  return nullptr;
}

/// Of \d, \s, \w.
Ranges rangesOf(char letter) {
  if (letter == 's')
    return {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
  return *rangesNamed(letter == 'd' ? "digit" : "word");
}

Ranges complement(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end());
  Ranges result;
  uint32_t from = 0;
  for (auto [low, high] : ranges) {
    if (low > from)
      result.emplace_back(from, low - 1);
    from = std::max(from, high + 1);
  }
  if (from <= kLast)
    result.emplace_back(from, kLast);
  return result;
}

} // namespace

/// Steps are made from the end of the pattern's parts: each part is read into a tree, and emitted in front of a step
/// that follows it.
class RegexParser {
public:
  explicit RegexParser(std::string_view pattern) : rest(pattern) {}

  Result<Regex> run() {
    if (!isUtf8(rest))
      return Failure{"the pattern is not UTF-8"};
    uint32_t root = alternatives(0);
    if (problem.empty() && !rest.empty())
      fail("unexpected )");
    if (problem.empty())
      made.first = emit(root, add({Regex::Code::Match}));
    if (!problem.empty())
      return Failure{problem};
    return std::move(made);
  }

private:
  static constexpr unsigned kMostDepth = 200;
  static constexpr int64_t kMostTimes = 1000, kUnbounded = -1;

  enum class Kind : uint8_t { Empty, Step, All, Any, Repeat }; ///< All: parts in turn; Any: one of them
  struct Part {
    Kind kind = Kind::Empty;
    Regex::Step step = {Regex::Code::Match};
    std::vector<uint32_t> parts = {};
    int64_t least = 0, most = 0;
  };
  struct Flags {
    bool folds = false, lines = false, dotIsAll = false;
  };

  uint32_t fail(const std::string &reason) {
    if (problem.empty())
      problem = reason;
    rest = {};
    return node({});
  }
  uint32_t node(Part part) {
    parts.push_back(std::move(part));
    return uint32_t(parts.size() - 1);
  }
  uint32_t stepNode(Regex::Code code, uint32_t set = 0) { return node({Kind::Step, {code, set}}); }
  uint32_t setNode(Ranges ranges, bool isNegated = false) {
    if (flags.folds)
      for (size_t i = 0, count = ranges.size(); i < count; ++i)
        if (auto [low, high] = ranges[i]; low == high)
          for (uint32_t other : {lowerCase(low), upperCase(low)})
            ranges.emplace_back(other, other);
    made.sets.push_back({std::move(ranges), isNegated, flags.folds});
    return stepNode(Regex::Code::Set, uint32_t(made.sets.size() - 1));
  }
  uint32_t add(Regex::Step step) {
    if (made.steps.size() >= Regex::kMostSteps)
      fail("takes more than " + std::to_string(Regex::kMostSteps) + " states");
    else
      made.steps.push_back(step);
    return made.steps.empty() ? 0 : uint32_t(made.steps.size() - 1);
  }

  bool take(std::string_view prefix) {
    if (!rest.starts_with(prefix))
      return false;
    rest.remove_prefix(prefix.size());
    return true;
  }

  uint32_t alternatives(unsigned depth) {
    if (depth > kMostDepth)
      return fail("is nested too deeply");
    Part any{Kind::Any};
    do
      any.parts.push_back(sequence(depth));
    while (take("|"));
    return any.parts.size() == 1 ? any.parts[0] : node(std::move(any));
  }

  uint32_t sequence(unsigned depth) {
    Part all{Kind::All};
    while (!rest.empty() && rest[0] != '|' && rest[0] != ')') {
      if (take("\\Q")) {
        while (!rest.empty() && !take("\\E")) {
          uint32_t c = takeCharacter(rest);
          all.parts.push_back(repeated(setNode({{c, c}}), !rest.starts_with("\\E")));
        }
        continue;
      }
      uint32_t one = atom(depth);
      all.parts.push_back(repeated(one, false));
    }
    return node(std::move(all));
  }

  /// {n}, {n,} or {n,m} at the beginning of the rest, which it takes; else nothing.
  std::optional<std::pair<int64_t, int64_t>> counts() {
    std::string_view text = rest;
    auto number = [&]() -> std::optional<int64_t> {
      int64_t value = 0;
      size_t digits = 0;
      for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits)
        value = std::min<int64_t>(value * 10 + (text[digits] - '0'), kMostTimes + 1);
      text.remove_prefix(digits);
      return digits ? std::optional(value) : std::nullopt;
    };
    if (!text.starts_with('{'))
      return std::nullopt;
    text.remove_prefix(1);
    auto least = number(), most = least;
    if (!least)
      return std::nullopt;
    if (text.starts_with(',')) {
      text.remove_prefix(1);
      most = number();
      most = most ? most : kUnbounded;
    }
    if (!text.starts_with('}'))
      return std::nullopt;
    text.remove_prefix(1);
    rest = text;
    return std::pair(*least, *most);
  }

  uint32_t repeated(uint32_t one, bool isQuoted) {
    bool isRepeated = false;
    while (!isQuoted && !rest.empty() && problem.empty()) {
      std::pair<int64_t, int64_t> times;
      std::string_view from = rest;
      if (take("*"))
        times = {0, kUnbounded};
      else if (take("+"))
        times = {1, kUnbounded};
      else if (take("?"))
        times = {0, 1};
      else if (auto counted = counts())
        times = *counted;
      else
        break;
      if (isRepeated)
        return fail("repeats a repetition: " + std::string(from.substr(0, 10)));
      if (times.first > kMostTimes || times.second > kMostTimes ||
          (times.second != kUnbounded && times.second < times.first))
        return fail("has a bad number of repetitions; 1000 are the most");
      take("?");
      Part part{Kind::Repeat};
      part.parts = {one};
      part.least = times.first, part.most = times.second;
      one = node(std::move(part));
      isRepeated = true;
    }
    return one;
  }

  uint32_t atom(unsigned depth) {
    if (take("("))
      return group(depth);
    if (take("["))
      return brackets();
    if (take("."))
      return setNode(flags.dotIsAll ? Ranges{{0, kLast}} : complement({{'\n', '\n'}}));
    if (take("^"))
      return stepNode(flags.lines ? Regex::Code::LineBegin : Regex::Code::TextBegin);
    if (take("$"))
      return stepNode(flags.lines ? Regex::Code::LineEnd : Regex::Code::TextEnd);
    if (rest[0] == '*' || rest[0] == '+' || rest[0] == '?')
      return fail("repeats nothing: " + std::string(1, rest[0]));
    if (std::string_view before = rest; counts())
      return fail("repeats nothing: " + std::string(before.substr(0, 10)));
    for (auto [text, code] : {std::pair("\\A", Regex::Code::TextBegin), std::pair("\\z", Regex::Code::TextEnd),
                              std::pair("\\b", Regex::Code::WordEdge), std::pair("\\B", Regex::Code::NoWordEdge)})
      if (take(text))
        return stepNode(code);
    if (take("\\")) {
      Ranges ranges;
      auto c = escaped(ranges);
      return setNode(c ? Ranges{{*c, *c}} : ranges);
    }
    uint32_t c = takeCharacter(rest);
    return setNode({{c, c}});
  }

  uint32_t group(unsigned depth) {
    Flags outside = flags;
    if (take("?P<") || take("?<")) {
      size_t end = rest.find('>');
      auto isWord = [](char c) { return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z'); };
      if (end == std::string_view::npos || end == 0 || !std::all_of(rest.begin(), rest.begin() + int64_t(end), isWord))
        return fail("has a group without a proper name");
      rest.remove_prefix(end + 1);
    } else if (take("?")) {
      bool isOn = true;
      for (; !rest.empty() && rest[0] != ':' && rest[0] != ')'; rest.remove_prefix(1)) {
        char c = rest[0];
        if (c == '-' && isOn)
          isOn = false;
        else if (c == 'i' || c == 'm' || c == 's')
          (c == 'i' ? flags.folds : c == 'm' ? flags.lines : flags.dotIsAll) = isOn;
        else if (c != 'U') // which repetitions are greedy makes no difference
          return fail("has an unknown group: (?" + std::string(rest.substr(0, 10)));
      }
      if (take(")"))
        return node({}); // flags from here on
      take(":");
    }
    uint32_t inside = alternatives(depth + 1);
    if (problem.empty() && !take(")"))
      return fail("lacks a )");
    flags = outside;
    return inside;
  }

  /// What follows a backslash: a character, or a class, which is added to `ranges`.
  std::optional<uint32_t> escaped(Ranges &ranges) {
    if (rest.empty())
      return fail("ends with a backslash"), std::nullopt;
    uint32_t c = takeCharacter(rest);
    switch (c) {
    case 'd':
    case 's':
    case 'w': {
      Ranges own = rangesOf(char(c));
      ranges.insert(ranges.end(), own.begin(), own.end());
      return std::nullopt;
    }
    case 'D':
    case 'S':
    case 'W': {
      Ranges own = complement(rangesOf(char(c | 32)));
      ranges.insert(ranges.end(), own.begin(), own.end());
      return std::nullopt;
    }
    case 'a':
      return '\a';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    case 'x':
      return hexadecimal();
    case 'p':
    case 'P':
      return fail("has a class of Unicode (\\p), which is not supported"), std::nullopt;
    case '0': {
      uint32_t value = 0;
      for (int i = 0; i < 2 && !rest.empty() && rest[0] >= '0' && rest[0] <= '7'; ++i, rest.remove_prefix(1))
        value = value * 8 + uint32_t(rest[0] - '0');
      return value;
    }
    default:
      bool isLetter = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
      if (c >= 0x80 || !isLetter)
        return c < 0x80 ? std::optional(c) : (fail("has an unknown escape"), std::nullopt);
      return fail("has an unknown escape: \\" + std::string(1, char(c))), std::nullopt;
    }
  }

  std::optional<uint32_t> hexadecimal() {
    bool isLong = take("{");
    uint32_t value = 0;
    size_t digits = 0;
    auto digit = [](char c) {
      return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
    };
    for (; digits < (isLong ? 8u : 2u) && !rest.empty() && digit(rest[0]) >= 0; ++digits, rest.remove_prefix(1))
      value = value > kLast ? value : value * 16 + uint32_t(digit(rest[0]));
    if (digits < (isLong ? 1u : 2u) || value > kLast || (isLong && !take("}")))
      return fail("has a bad hexadecimal escape"), std::nullopt;
    return value;
  }

  /// Adds [:name:] or [:^name:] to the ranges; false where there is none.
  bool namedClass(Ranges &ranges) {
    size_t end = rest.starts_with("[:") ? rest.find(":]", 2) : std::string_view::npos;
    if (end == std::string_view::npos)
      return false;
    std::string_view name = rest.substr(2, end - 2);
    bool isNegated = name.starts_with('^');
    const Ranges *found = rangesNamed(name.substr(isNegated ? 1 : 0));
    if (!found)
      return fail("has an unknown class [:" + std::string(name) + ":]"), true;
    Ranges own = isNegated ? complement(*found) : *found;
    ranges.insert(ranges.end(), own.begin(), own.end());
    rest.remove_prefix(end + 2);
    return true;
  }

  uint32_t brackets() {
    bool isNegated = take("^"), isFirst = true;
    Ranges ranges;
    auto character = [&]() -> std::optional<uint32_t> {
      if (take("\\"))
        return escaped(ranges);
      return takeCharacter(rest);
    };
    for (; problem.empty() && (isFirst || !rest.starts_with(']')); isFirst = false) {
      if (rest.empty())
        return fail("lacks a ]");
      if (namedClass(ranges))
        continue;
      auto low = character();
      if (!low) // a class, or an error
        continue;
      uint32_t high = *low;
      if (rest.size() > 1 && rest[0] == '-' && rest[1] != ']') {
        rest.remove_prefix(1);
        auto end = character();
        if (!end || *end < *low)
          return fail("has a bad range in brackets");
        high = *end;
      }
      ranges.emplace_back(*low, high);
    }
    take("]");
    return setNode(std::move(ranges), isNegated);
  }

  /// The step at which a part begins that is followed by step `next`.
  uint32_t emit(uint32_t number, uint32_t next) {
    constexpr size_t most = 10 * Regex::kMostSteps; // repetitions of nothing make no steps
    if (++emitted > most)
      fail("has too many repetitions");
    if (!problem.empty())
      return 0;
    const Part &part = parts[number];
    switch (part.kind) {
    case Kind::Empty:
      return next;
    case Kind::Step:
      return add({part.step.code, part.step.set, next});
    case Kind::All:
      for (size_t i = part.parts.size(); i-- > 0;)
        next = emit(part.parts[i], next);
      return next;
    case Kind::Any: {
      uint32_t first = emit(part.parts.back(), next);
      for (size_t i = part.parts.size() - 1; i-- > 0;)
        first = add({Regex::Code::Fork, 0, emit(part.parts[i], next), first});
      return first;
    }
    case Kind::Repeat:
      return emitRepeat(part, next);
    }
    return next;
  }

  uint32_t emitRepeat(const Part &part, uint32_t next) {
    uint32_t one = part.parts[0];
    if (part.most == kUnbounded) {
      uint32_t again = add({Regex::Code::Fork, 0, next, next});
      uint32_t body = emit(one, again);
      if (!problem.empty())
        return 0;
      made.steps[again].other = body;
      next = again;
    } else {
      uint32_t end = next;
      for (int64_t i = part.least; i < part.most && problem.empty(); ++i)
        next = add({Regex::Code::Fork, 0, emit(one, next), end});
    }
    for (int64_t i = 0; i < part.least && problem.empty(); ++i)
      next = emit(one, next);
    return next;
  }

  std::string_view rest;
  std::string problem;
  Flags flags;
  std::vector<Part> parts;
  size_t emitted = 0;
  Regex made;
};

Result<Regex> Regex::parse(std::string_view pattern) { return RegexParser(pattern).run(); }

} // namespace pto_mlir::hostops
