// Operations on strings: literals, concatenation, normalisation, splitting, look-up, patterns.
#include "Regex.h"
#include "Unicode.h"
#include "Wide.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace pto_mlir::hostops {

using Shape = std::vector<int64_t>;
using Views = std::vector<std::string_view>;

Result<Views> stringsOf(const TensorCall &call, const TensorView &tensor) {
  std::vector<uint64_t> numbers = load<uint64_t>(tensor);
  if (!call.strings)
    return Failure{"there is no table of strings"};
  Views views;
  views.reserve(numbers.size());
  for (uint64_t number : numbers) {
    auto text = call.strings->text(number);
    if (!text)
      return Failure{"an element is no string of this run"};
    views.push_back(*text);
  }
  return views;
}

Status finishStrings(const TensorCall &call, const Shape &shape, const std::vector<std::string> &values) {
  if (!call.strings)
    return Failure{"there is no table of strings"};
  std::vector<uint64_t> numbers;
  numbers.reserve(values.size());
  for (const std::string &value : values) {
    auto number = call.strings->intern(value);
    if (!number)
      return number.failure();
    numbers.push_back(*number);
  }
  return finish(call, shape, [&] { return numbers; });
}

Result<std::vector<int64_t>> ranksOfStrings(const TensorCall &call, const TensorView &tensor) {
  auto views = stringsOf(call, tensor);
  if (!views)
    return views.failure();
  std::map<std::string_view, int64_t> ranks;
  for (std::string_view view : *views)
    ranks[view] = 0;
  int64_t rank = 0;
  for (auto &entry : ranks)
    entry.second = rank++;
  std::vector<int64_t> result;
  result.reserve(views->size());
  for (std::string_view view : *views)
    result.push_back(ranks[view]);
  return result;
}

namespace {

/// Bytes of all strings, and the length of each; bytes may be left over.
Status strings(const TensorCall &call) {
  auto shape = parameter<Shape>(call, "shape", {});
  std::vector<int64_t> lengths = load<int64_t>(call.inputs[1]);
  auto *bytes = reinterpret_cast<const char *>(call.inputs[0].data);
  uint64_t left = countOf(call.inputs[0].shape), count = 1;
  for (int64_t size : shape)
    if (size < 0 || (size > 0 && count > kMostElements / uint64_t(size)))
      return Failure{"has a bad shape"};
    else
      count *= uint64_t(size);
  if (count != lengths.size())
    return Failure{"has another number of lengths than its shape"};
  std::vector<std::string> values;
  values.reserve(lengths.size());
  for (int64_t length : lengths) {
    if (length < 0 || uint64_t(length) > left)
      return Failure{"has lengths of more than its bytes"};
    values.emplace_back(bytes, size_t(length));
    bytes += length;
    left -= uint64_t(length);
  }
  return finishStrings(call, shape, values);
}

Status concatenate(const TensorCall &call) {
  auto shape = broadcastShape(call.inputs);
  if (!shape)
    return Failure{"the operands do not broadcast"};
  auto a = stringsOf(call, call.inputs[0]), b = stringsOf(call, call.inputs[1]);
  if (!a || !b)
    return a ? b.failure() : a.failure();
  Shape offsets[2];
  for (size_t i = 0; i < 2; ++i)
    forEachOffset(*shape, broadcastStrides(call.inputs[i].shape, *shape), 0,
                  [&](int64_t offset) { offsets[i].push_back(offset); });
  uint64_t bytes = 0;
  std::vector<std::string> values;
  for (size_t i = 0; i < offsets[0].size(); ++i) {
    std::string_view first = (*a)[size_t(offsets[0][i])], second = (*b)[size_t(offsets[1][i])];
    bytes += first.size() + second.size();
    if (bytes > StringTable::kMostBytes)
      return Failure{"makes more bytes of strings than a run holds"};
    values.push_back(std::string(first) + std::string(second));
  }
  return finishStrings(call, *shape, values);
}

/// Which case a string gets; fails on a byte outside of UTF-8, and on letters beyond ASCII where none are known.
Result<std::string> inCase(std::string_view text, uint32_t (*change)(uint32_t)) {
  std::string result;
  while (!text.empty()) {
    uint32_t character = takeCharacter(text);
    if (character == kNoCharacter)
      return Failure{"a string is not UTF-8, so that it has no other case"};
    if (character >= 0x80 && !knowsCases())
      return Failure{"the system has no locale C.UTF-8, which says what letters beyond ASCII are in another case"};
    addCharacter(result, change(character));
  }
  return result;
}

/// Strings [C] or [1, C] without the stop words, in another case; one empty string where none is left.
Status normalize(const TensorCall &call) {
  auto views = stringsOf(call, call.inputs[0]), stops = stringsOf(call, call.inputs[1]);
  if (!views || !stops)
    return views ? stops.failure() : views.failure();
  Shape shape = call.inputs[0].shape;
  if (shape.empty() || shape.size() > 2 || (shape.size() == 2 && shape[0] != 1))
    return Failure{"takes strings [C] or [1, C]"};
  std::string wanted = parameter<std::string>(call, "case", "none");
  bool isSensitive = parameter<int64_t>(call, "case_sensitive", 0) != 0;
  auto compared = [&](std::string_view text) {
    return isSensitive || stops->empty() ? Result<std::string>(std::string(text)) : inCase(text, lowerCase);
  };
  std::set<std::string, std::less<>> words;
  for (std::string_view stop : *stops) {
    auto word = compared(stop);
    if (!word)
      return word.failure();
    words.insert(word.take());
  }
  std::vector<std::string> values;
  for (std::string_view view : *views) {
    auto key = compared(view);
    if (!key)
      return key.failure();
    if (words.contains(*key))
      continue;
    auto value = wanted == "none" ? Result<std::string>(std::string(view))
                                  : inCase(view, wanted == "lower" ? lowerCase : upperCase);
    if (!value)
      return value.failure();
    values.push_back(value.take());
  }
  if (values.empty())
    values.emplace_back();
  shape.back() = int64_t(values.size());
  return finishStrings(call, shape, values);
}

/// As Python's str.split: at a delimiter, or at runs of white space, of which none begins or ends the parts.
std::vector<std::string> parts(std::string_view text, std::string_view delimiter, int64_t most) {
  std::vector<std::string> result;
  auto mayCut = [&] { return most < 0 || int64_t(result.size()) < most; };
  if (!delimiter.empty()) {
    for (size_t at; mayCut() && (at = text.find(delimiter)) != std::string_view::npos;
         text.remove_prefix(at + delimiter.size()))
      result.emplace_back(text.substr(0, at));
    result.emplace_back(text);
    return result;
  }
  auto next = [&text] {
    std::string_view rest = text;
    uint32_t character = takeCharacter(rest);
    return std::pair(isSpace(character), text.size() - rest.size());
  };
  while (true) {
    while (!text.empty() && next().first)
      text.remove_prefix(next().second);
    if (text.empty())
      return result;
    if (!mayCut()) {
      result.emplace_back(text);
      return result;
    }
    std::string &part = result.emplace_back();
    while (!text.empty() && !next().first) {
      part += text.substr(0, next().second);
      text.remove_prefix(next().second);
    }
  }
}

/// The parts of each string along a new last dimension, behind them empty strings; or their numbers.
Status split(const TensorCall &call) {
  auto views = stringsOf(call, call.inputs[0]), delimiter = stringsOf(call, call.inputs[1]);
  if (!views || !delimiter)
    return views ? delimiter.failure() : views.failure();
  if (delimiter->size() != 1)
    return Failure{"takes one delimiter"};
  int64_t cuts = parameter<int64_t>(call, "maxsplit", -1);
  std::vector<std::vector<std::string>> all;
  std::vector<int64_t> counts;
  int64_t most = 0;
  for (std::string_view view : *views) {
    all.push_back(parts(view, delimiter->front(), cuts));
    counts.push_back(int64_t(all.back().size()));
    most = std::max(most, counts.back());
  }
  Shape shape = call.inputs[0].shape;
  if (call.name == "string_split_counts")
    return finish(call, shape, [&] { return counts; });
  if (!all.empty() && uint64_t(most) > kMostElements / all.size())
    return Failure{"gives more than " + std::to_string(kMostElements) + " strings"};
  shape.push_back(most);
  std::vector<std::string> values;
  for (std::vector<std::string> &own : all) {
    own.resize(size_t(most));
    values.insert(values.end(), own.begin(), own.end());
  }
  return finishStrings(call, shape, values);
}

/// The place of each string among the keys, the first where a key is there twice.
Status lookup(const TensorCall &call) {
  std::vector<uint64_t> numbers = load<uint64_t>(call.inputs[0]), keys = load<uint64_t>(call.inputs[1]);
  int64_t otherwise = parameter<int64_t>(call, "otherwise", -1);
  return finish(call, call.inputs[0].shape, [&] {
    std::map<uint64_t, int64_t> places;
    for (size_t i = 0; i < keys.size(); ++i)
      places.emplace(keys[i], int64_t(i));
    std::vector<int64_t> result;
    for (uint64_t number : numbers) {
      auto found = places.find(number);
      result.push_back(found == places.end() ? otherwise : found->second);
    }
    return result;
  });
}

Status fullMatch(const TensorCall &call) {
  auto views = stringsOf(call, call.inputs[0]), pattern = stringsOf(call, call.inputs[1]);
  if (!views || !pattern)
    return views ? pattern.failure() : views.failure();
  if (pattern->size() != 1)
    return Failure{"takes one pattern"};
  auto regex = Regex::parse(pattern->front());
  if (!regex)
    return Failure{"the pattern " + regex.error()};
  return finish(call, call.inputs[0].shape, [&] {
    std::vector<int64_t> result;
    for (std::string_view view : *views)
      result.push_back(regex->matchesWhole(view));
    return result;
  });
}

constexpr ElementType S = ElementType::String;
struct StringRow {
  std::string_view name;
  std::vector<ElementType> operands;
  ElementType result;
  Status (*run)(const TensorCall &);
};
const std::vector<StringRow> &stringRows() {
  static const std::vector<StringRow> all = {{"strings", {ElementType::U8, ElementType::I64}, S, strings},
                                             {"string_concat", {S, S}, S, concatenate},
                                             {"string_normalize", {S, S}, S, normalize},
                                             {"string_split", {S, S}, S, split},
                                             {"string_split_counts", {S, S}, ElementType::I64, split},
                                             {"string_lookup", {S, S}, ElementType::I64, lookup},
                                             {"regex_full_match", {S, S}, ElementType::Boolean, fullMatch}};
  return all;
}

const StringRow *stringRowOf(std::string_view name, std::span<const ElementType> operands) {
  for (const StringRow &row : stringRows())
    if (row.name == name && std::equal(operands.begin(), operands.end(), row.operands.begin(), row.operands.end()))
      return &row;
  return nullptr;
}

} // namespace

bool hasStrings(std::string_view name, std::span<const ElementType> operands) {
  return stringRowOf(name, operands) || (name == "cast" && operands.size() == 1 && operands[0] == S);
}

std::optional<Status> runStrings(const TensorCall &call) {
  std::vector<ElementType> types;
  for (const TensorView &input : call.inputs)
    types.push_back(input.type);
  if (call.name == "cast" && types.size() == 1 && (types[0] == S || call.resultType == S))
    return castStrings(call);
  const StringRow *row = stringRowOf(call.name, types);
  if (!row)
    return std::nullopt;
  return call.resultType == row->result ? row->run(call) : Failure{"gives elements of another type"};
}

} // namespace pto_mlir::hostops
