#include "pto_mlir/ByteCode/KernelKey.h"

#include "NumberText.h"

#include <algorithm>
#include <charconv>

namespace pto_mlir::bytecode {

namespace {

bool isPlain(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Y'); }

void escape(std::string &name, char c) {
  constexpr char digits[] = "0123456789abcdef";
  auto byte = static_cast<unsigned char>(c);
  name += {'Z', digits[byte >> 4], digits[byte & 15]};
}

/// Whether a token is read as a number: it begins with a digit, or with 'm' (minus) and a digit.
bool looksLikeNumber(std::string_view text) {
  size_t begin = !text.empty() && text[0] == 'm' ? 1 : 0;
  return text.size() > begin && text[begin] >= '0' && text[begin] <= '9';
}

/// Appends a separator and a token. `escapeFirst` escapes the first character of a text that would be read as another
/// kind of token.
void addToken(std::string &name, std::string_view text, bool escapeFirst = false) {
  if (!name.empty())
    name += '_';
  if (text.empty())
    name += "Z00";
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == 0 ? !isPlain(text[i]) || escapeFirst : !isPlain(text[i]) && text[i] != '_')
      escape(name, text[i]);
    else if (text[i] == '_')
      name += "__";
    else
      name += text[i];
  }
}

void addRaw(std::string &name, std::string_view token) { name += "_" + std::string(token); }

std::string typeToken(const Type &type) {
  std::string token;
  for (int64_t size : type.shape)
    token += (size == kDynamic ? "n" : std::to_string(size)) + "x";
  return token + elementText(type.element);
}

std::string numberToken(const Number &number) {
  std::string text = std::holds_alternative<int64_t>(number) ? std::to_string(std::get<int64_t>(number))
                                                             : floatText(std::get<double>(number));
  if (text[0] == '-')
    text[0] = 'm';
  std::string token;
  for (char c : text)
    isPlain(c) ? void(token += c) : escape(token, c);
  return token;
}

std::optional<Number> parseNumber(std::string text) {
  if (text.starts_with("m"))
    text[0] = '-';
  int64_t integer = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
  if (error == std::errc() && end == text.data() + text.size())
    return Number(integer);
  auto value = parseFloat(text);
  return value ? std::optional<Number>(*value) : std::nullopt;
}

char letter(const Type &type) { return "ift"[static_cast<int>(type.kind())]; }

struct Token {
  std::string raw, text;
};

/// Splits at single underscores and unescapes the tokens.
std::optional<std::vector<Token>> split(std::string_view name) {
  std::vector<Token> tokens(1);
  for (size_t i = 0; i < name.size();) {
    Token &token = tokens.back();
    char c = name[i];
    if (c == '_' && i + 1 < name.size() && name[i + 1] == '_') {
      token.raw += "__";
      token.text += '_';
      i += 2;
    } else if (c == '_') {
      tokens.emplace_back();
      ++i;
    } else if (c == 'Z') {
      unsigned value = 0;
      if (i + 3 > name.size() ||
          std::from_chars(name.data() + i + 1, name.data() + i + 3, value, 16).ptr != name.data() + i + 3) {
        // 'Zl' at the start of a token marks a list.
        token.raw += c;
        token.text += c;
        ++i;
        continue;
      }
      token.raw += name.substr(i, 3);
      if (value)
        token.text += static_cast<char>(value);
      i += 3;
    } else {
      token.raw += c;
      token.text += c;
      ++i;
    }
  }
  return tokens;
}

class Demangler {
public:
  explicit Demangler(std::vector<Token> tokens) : tokens(std::move(tokens)) {}

  std::optional<KernelKey> run() {
    KernelKey key;
    while (at < tokens.size() && tokens[at].raw != "sig")
      key.callee += (key.callee.empty() ? "" : ".") + tokens[at++].text;
    auto operands = next("sig"), results = std::optional<std::string>();
    if (!operands)
      return std::nullopt;
    if (*operands == "v" && at < tokens.size() && tokens[at].raw == "v")
      ++at;
    else if (at < tokens.size() && tokens[at].raw != "ins" &&
             tokens[at].raw.find_first_not_of("ift") == std::string::npos && !tokens[at].raw.empty())
      results = tokens[at++].raw;
    if (*operands != "v" && !types("ins", *operands, key.operands))
      return std::nullopt;
    if (results && !types("outs", *results, key.results))
      return std::nullopt;
    while (at < tokens.size())
      if (!attribute(key))
        return std::nullopt;
    return key;
  }

private:
  /// The raw token after `word`.
  std::optional<std::string> next(std::string_view word) {
    if (at + 1 >= tokens.size() || tokens[at].raw != word)
      return std::nullopt;
    at += 2;
    return tokens[at - 1].raw;
  }

  bool types(std::string_view word, const std::string &letters, std::vector<Type> &list) {
    if (at >= tokens.size() || tokens[at++].raw != word || at + letters.size() > tokens.size())
      return false;
    for (char kind : letters) {
      std::string text = tokens[at++].raw;
      if (kind == 't') {
        for (size_t i = 0; i + 1 < text.size(); ++i)
          if (text[i] == 'n' && text[i + 1] == 'x' && (i == 0 || text[i - 1] == 'x'))
            text[i] = '?';
        text = "tensor<" + text + ">";
      }
      auto type = parseType(text);
      if (!type || letter(*type) != kind)
        return false;
      list.push_back(*type);
    }
    return true;
  }

  bool attribute(KernelKey &key) {
    std::string name = tokens[at++].text;
    if (at >= tokens.size())
      return false;
    auto isNumber = [&] { return at < tokens.size() && looksLikeNumber(tokens[at].raw); };
    std::vector<Number> numbers;
    size_t wanted = 0;
    bool isList = tokens[at].raw == "Zl0" || tokens[at].raw == "Zl1";
    if (isList)
      wanted = tokens[at++].raw == "Zl1";
    while (isNumber() && (!isList || numbers.size() < wanted)) {
      auto number = parseNumber(tokens[at++].text);
      if (!number)
        return false;
      numbers.push_back(*number);
    }
    if (isList && numbers.size() != wanted)
      return false;
    AttributeValue value;
    if (isList || numbers.size() > 1)
      value = numbers;
    else if (numbers.size() == 1)
      std::visit([&](auto number) { value = number; }, numbers[0]);
    else
      value = tokens[at++].text;
    key.attributes.emplace_back(std::move(name), std::move(value));
    return true;
  }

  std::vector<Token> tokens;
  size_t at = 0;
};

} // namespace

std::string mangle(const KernelKey &key) {
  std::string name;
  std::string_view callee = key.callee;
  while (true) {
    size_t dot = callee.find('.');
    std::string_view part = callee.substr(0, dot);
    addToken(name, part, /*escapeFirst=*/part == "sig");
    if (dot == std::string_view::npos)
      break;
    callee.remove_prefix(dot + 1);
  }
  auto letters = [](const std::vector<Type> &types) {
    std::string text;
    for (const Type &type : types)
      text += letter(type);
    return text;
  };
  auto addTypes = [&](const char *word, const std::vector<Type> &types) {
    if (types.empty())
      return;
    addRaw(name, word);
    for (const Type &type : types)
      addRaw(name, typeToken(type));
  };
  addRaw(name, "sig");
  addRaw(name, key.operands.empty() ? "v" : letters(key.operands));
  if (!key.results.empty())
    addRaw(name, letters(key.results));
  else if (key.operands.empty())
    addRaw(name, "v"); // separates the first attribute from the operand letters
  addTypes("ins", key.operands);
  addTypes("outs", key.results);
  for (const auto &[attribute, value] : key.attributes) {
    addToken(name, attribute, looksLikeNumber(attribute));
    if (auto *text = std::get_if<std::string>(&value)) {
      addToken(name, *text, looksLikeNumber(*text));
    } else if (auto *list = std::get_if<std::vector<Number>>(&value)) {
      if (list->size() < 2)
        addRaw(name, list->empty() ? "Zl0" : "Zl1");
      for (const Number &number : *list)
        addRaw(name, numberToken(number));
    } else {
      addRaw(name, numberToken(std::holds_alternative<int64_t>(value) ? Number(std::get<int64_t>(value))
                                                                      : Number(std::get<double>(value))));
    }
  }
  return name;
}

std::optional<KernelKey> demangle(std::string_view name) {
  auto tokens = split(name);
  auto key = tokens ? Demangler(std::move(*tokens)).run() : std::nullopt;
  // Reject non-canonical names, so that each key has exactly one name.
  return key && isValidKey(*key) && mangle(*key) == name ? key : std::nullopt;
}

std::optional<std::vector<Direction>> directionsOf(const KernelKey &key) {
  constexpr std::string_view words[] = {"in", "out", "inout", "none"}; // as Direction has them
  size_t tensors = std::count_if(key.operands.begin(), key.operands.end(), [](auto &type) { return type.isTensor; });
  for (const auto &[name, value] : key.attributes) {
    auto *text = name == kDirections ? std::get_if<std::string>(&value) : nullptr;
    if (!text)
      continue;
    std::vector<Direction> directions;
    std::string_view rest = *text;
    while (!rest.empty()) {
      size_t comma = std::min(rest.find(','), rest.size());
      auto word = std::find(std::begin(words), std::end(words), rest.substr(0, comma));
      if (word == std::end(words) || directions.size() == tensors)
        return std::nullopt;
      directions.push_back(static_cast<Direction>(word - words));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return directions.size() == tensors ? std::optional(directions) : std::nullopt;
  }
  return std::nullopt;
}

bool isRanked(const KernelKey &key) {
  return std::any_of(key.attributes.begin(), key.attributes.end(),
                     [](const auto &attribute) { return attribute.first == kRanked; });
}

bool isValidKey(const KernelKey &key) {
  auto isText = [](std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  };
  std::string_view place = key.place();
  if ((place != "device" && place != "host" && place != "python") || key.callee.size() <= place.size() + 1 ||
      !isText(key.callee))
    return false;
  for (size_t i = 0; i < key.attributes.size(); ++i) {
    const auto &[name, value] = key.attributes[i];
    if (name.empty() || !isText(name) || (i && key.attributes[i - 1].first >= name))
      return false;
    if (auto *text = std::get_if<std::string>(&value); text && !isText(*text))
      return false;
    // A NaN compares unequal to itself, so keys must not contain one.
    if (auto *number = std::get_if<double>(&value); number && *number != *number)
      return false;
    if (auto *list = std::get_if<std::vector<Number>>(&value))
      for (const Number &number : *list)
        if (number != number)
          return false;
  }
  auto valid = [](const std::vector<Type> &types) {
    return std::all_of(types.begin(), types.end(), [](const Type &type) { return !type.isTask && isValidType(type); });
  };
  return valid(key.operands) && valid(key.results);
}

} // namespace pto_mlir::bytecode
