// The lexer of the assembler.
#ifndef PTO_MLIR_LIB_BYTECODE_LEXER_H
#define PTO_MLIR_LIB_BYTECODE_LEXER_H

#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pto_mlir::bytecode {

/// Reads one line from left to right. Every reader returns nullopt (or false) and consumes nothing on a mismatch.
class Lexer {
public:
  explicit Lexer(std::string_view line) : rest(line) { skipBlanks(); }

  bool atEnd() const { return rest.empty() || rest.starts_with("//"); }
  std::string_view remaining() const { return rest; }

  bool eat(std::string_view symbol) {
    if (!rest.starts_with(symbol))
      return false;
    rest.remove_prefix(symbol.size());
    skipBlanks();
    return true;
  }
  /// As eat, for a whole word.
  bool eatWord(std::string_view word) {
    std::string_view saved = rest;
    auto found = this->word();
    if (found && *found == word)
      return true;
    rest = saved;
    return false;
  }
  /// Letters, digits, '_', '.', '$'.
  std::optional<std::string_view> word() {
    return take([](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$'; });
  }
  /// @word or @"any text".
  std::optional<std::string> symbol() {
    std::string_view saved = rest;
    if (eat("@")) {
      if (auto text = quoted())
        return text;
      if (auto plain = word())
        return std::string(*plain);
    }
    rest = saved;
    return std::nullopt;
  }
  /// The characters that may form a number, unparsed.
  std::optional<std::string_view> number() {
    return take([](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '+'; });
  }
  template <class T> std::optional<T> integer() {
    std::string_view saved = rest;
    T value = 0;
    if (auto text = number()) {
      auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
      if (error == std::errc() && end == text->data() + text->size())
        return value;
    }
    rest = saved;
    return std::nullopt;
  }
  /// "..." with \" \\ and \hh.
  std::optional<std::string> quoted() {
    if (rest.empty() || rest[0] != '"')
      return std::nullopt;
    std::string text;
    for (size_t i = 1; i < rest.size(); ++i) {
      if (rest[i] == '"') {
        rest.remove_prefix(i + 1);
        skipBlanks();
        return text;
      }
      if (rest[i] != '\\') {
        text += rest[i];
      } else if (i + 1 < rest.size() && (rest[i + 1] == '"' || rest[i + 1] == '\\')) {
        text += rest[++i];
      } else {
        unsigned value = 0;
        if (i + 3 > rest.size() ||
            std::from_chars(rest.data() + i + 1, rest.data() + i + 3, value, 16).ptr != rest.data() + i + 3)
          return std::nullopt;
        text += static_cast<char>(value);
        i += 2;
      }
    }
    return std::nullopt;
  }
  /// "tensor<..>" or "i32", as text.
  std::string_view typeText() {
    size_t length = rest.starts_with("tensor<") ? rest.find('>') + 1 : 0;
    if (length == 0)
      return word().value_or("");
    std::string_view text = rest.substr(0, length);
    rest.remove_prefix(length);
    skipBlanks();
    return text;
  }

private:
  template <class Accepts> std::optional<std::string_view> take(Accepts accepts) {
    size_t length = 0;
    while (length < rest.size() && accepts(rest[length]))
      ++length;
    if (length == 0)
      return std::nullopt;
    std::string_view text = rest.substr(0, length);
    rest.remove_prefix(length);
    skipBlanks();
    return text;
  }
  void skipBlanks() {
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r'))
      rest.remove_prefix(1);
  }
  std::string_view rest;
};

} // namespace pto_mlir::bytecode

#endif
