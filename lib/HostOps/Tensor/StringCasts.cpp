// Casts between strings and numbers, in the texts that onnxruntime writes and reads.
#include "Wide.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace pto_mlir::hostops {

namespace {

/// Eight digits, which is what onnxruntime gives to floats of every width.
std::string textOf(double value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return value < 0 ? "-INF" : "INF";
  char buffer[40];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::general, 8);
  return error == std::errc() ? std::string(buffer, end) : std::string();
}
std::string textOf(int64_t value) { return std::to_string(value); }
std::string textOf(uint64_t value) { return std::to_string(value); }

/// White space and a plus before a number are no part of it.
std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || (text.front() >= '\t' && text.front() <= '\r')))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || (text.back() >= '\t' && text.back() <= '\r')))
    text.remove_suffix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-')
    text.remove_prefix(1);
  return text;
}

/// The whole text as a number; false where it is none, or none that V holds.
template <class V> bool parse(std::string_view text, V &value) {
  text = trimmed(text);
  const char *end = text.data() + text.size();
  if constexpr (std::is_same_v<V, double>) {
    auto [stop, error] = std::from_chars(text.data(), end, value);
    return stop == end && error == std::errc();
  } else {
    auto [stop, error] = std::from_chars(text.data(), end, value);
    if (stop == end && error == std::errc())
      return true;
    double wide = 0; // 3.0, 1e3: cut toward zero
    auto [rest, problem] = std::from_chars(text.data(), end, wide);
    constexpr double most = std::is_same_v<V, int64_t> ? 9223372036854775808.0 : 18446744073709551616.0;
    bool isNumber = rest == end && problem == std::errc() && wide < most && wide >= (std::is_signed_v<V> ? -most : 0);
    bool isWhole = text.find_first_of(".eE") == std::string_view::npos;
    if (!isNumber || isWhole)
      return false;
    value = V(wide);
    return true;
  }
}

} // namespace

Status castStrings(const TensorCall &call) {
  const TensorView &input = call.inputs[0];
  if (input.type != ElementType::String)
    return withClass(classOf(input.type), [&](auto number) -> Status {
      std::vector<std::string> texts;
      for (auto value : load<decltype(number)>(input))
        texts.push_back(textOf(value));
      return finishStrings(call, input.shape, texts);
    });
  auto views = stringsOf(call, input);
  if (!views)
    return views.failure();
  if (call.resultType == ElementType::String)
    return finishStrings(call, input.shape, std::vector<std::string>(views->begin(), views->end()));
  return withClass(classOf(call.resultType), [&](auto number) -> Status {
    std::vector<decltype(number)> values;
    for (std::string_view view : *views) {
      decltype(number) value = 0;
      if (!parse(view, value))
        return Failure{"string " + std::to_string(values.size()) + " is no number of type " +
                       std::string(elementTypeName(call.resultType))};
      values.push_back(value);
    }
    return finish(call, input.shape, [&] { return values; });
  });
}

} // namespace pto_mlir::hostops
