#include "Arguments.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <string_view>

namespace pto_mlir {

using namespace runtime;

namespace {

/// Parses a type such as "3x37xf32" or "f16" into `array`.
bool parseType(std::string_view text, NpyArray &array) {
  for (size_t cross; (cross = text.find('x')) != std::string_view::npos;) {
    uint64_t size = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + cross, size);
    if (error != std::errc() || end != text.data() + cross)
      break;
    array.shape.push_back(size);
    text.remove_prefix(cross + 1);
  }
  auto type = parseElementType(text);
  if (type)
    array.type = *type;
  return type.has_value();
}

/// Parses an integer, or a decimal number to the bits of an f32; nullopt for any other text.
std::optional<int64_t> parseScalar(std::string_view text) {
  const char *begin = text.data(), *end = begin + text.size();
  int64_t integer = 0;
  if (auto [stop, error] = std::from_chars(begin, end, integer); error == std::errc() && stop == end)
    return integer;
  float number = 0;
  if (auto [stop, error] = std::from_chars(begin, end, number); error == std::errc() && stop == end)
    return std::bit_cast<uint32_t>(number);
  return std::nullopt;
}

Status zeroOutput(Argument &output, const NpyArray *like) {
  if (!output.typed) {
    if (!like)
      return Failure{"--out '" + output.destination + "' needs a type, such as " + output.destination +
                     ":3x37xf32, because no argument is read from a file"};
    output.array.type = like->type;
    output.array.shape = like->shape;
  }
  auto bytes = tensorBytes(output.array.type, output.array.shape);
  if (!bytes || *bytes > uint64_t(1) << 36)
    return Failure{"--out '" + output.destination + "': is too large"};
  output.array.data.assign(*bytes, 0);
  return {};
}

} // namespace

Result<Argument> parseArgument(ArgumentRole role, const std::string &text) {
  Argument argument;
  argument.role = role;
  if (role == ArgumentRole::In) {
    auto scalar = parseScalar(text);
    argument.isScalar = scalar.has_value();
    argument.scalar = scalar.value_or(0);
    argument.source = scalar ? "" : text;
  } else if (role == ArgumentRole::Out) {
    size_t colon = text.rfind(':');
    argument.destination = text.substr(0, colon);
    argument.typed = colon != std::string::npos;
    if (argument.destination.empty() ||
        (argument.typed && !parseType(std::string_view(text).substr(colon + 1), argument.array)))
      return Failure{"--out '" + text + "': expects FILE or FILE:TYPE with a type such as 3x37xf32"};
  } else {
    size_t equals = text.rfind('=');
    argument.source = text.substr(0, equals);
    argument.destination = equals == std::string::npos ? text : text.substr(equals + 1);
    if (argument.source.empty() || argument.destination.empty())
      return Failure{"--inout '" + text + "': expects FILE or FILE=RESULT"};
  }
  return argument;
}

Status loadArguments(std::vector<Argument> &arguments) {
  const NpyArray *first = nullptr;
  for (Argument &argument : arguments) {
    if (argument.source.empty())
      continue;
    auto array = readNpy(argument.source);
    if (!array)
      return array.failure();
    argument.array = array.take();
    first = first ? first : &argument.array;
  }
  for (Argument &argument : arguments)
    if (argument.role == ArgumentRole::Out)
      if (Status status = zeroOutput(argument, first); !status)
        return status;
  return {};
}

} // namespace pto_mlir
