//===- ReadText.cpp - what must be known or done before .pto is parsed ------------------===//

#include "pto_mlir/Dialect/PTO/IR/ReadText.h"

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;
using namespace pto_mlir::pto;

namespace {
struct ArchExtension : DialectExtension<ArchExtension, PTODialect> {
  explicit ArchExtension(const Target &arch) : arch(arch) {}
  void apply(MLIRContext *, PTODialect *dialect) const override { dialect->setParseFor(arch); }
  const Target &arch;
};
} // namespace

void pto_mlir::pto::setParseFor(DialectRegistry &registry, const Target &arch) {
  registry.addExtension(std::make_unique<ArchExtension>(arch));
}

//===- relaxed spelling ---------------------------------------------------------------===//

/// First place at or after `at` that is neither white space nor a comment.
static size_t skipBlanks(StringRef text, size_t at) {
  while (at < text.size()) {
    if (isspace(static_cast<unsigned char>(text[at])))
      ++at;
    else if (text.substr(at).starts_with("//"))
      at = std::min(text.find('\n', at), text.size());
    else
      break;
  }
  return at;
}

/// The place behind the bracket that closes the one at `open`; npos when the text ends before.
static size_t closing(StringRef text, size_t open) {
  SmallVector<char> expected;
  for (size_t i = open; i < text.size(); ++i) {
    switch (text[i]) {
    case '"':
      for (++i; i < text.size() && text[i] != '"'; ++i)
        i += text[i] == '\\';
      break;
    case '/':
      if (text.substr(i).starts_with("//"))
        i = std::min(text.find('\n', i), text.size());
      break;
    case '(':
      expected.push_back(')');
      break;
    case '[':
      expected.push_back(']');
      break;
    case '{':
      expected.push_back('}');
      break;
    case '<':
      expected.push_back('>');
      break;
    case '>':
      if (i > 0 && text[i - 1] == '-') // an arrow
        break;
      [[fallthrough]];
    case ')':
    case ']':
    case '}':
      if (expected.empty() || expected.pop_back_val() != text[i])
        return StringRef::npos;
      if (expected.empty())
        return i + 1;
      break;
    default:
      break;
    }
  }
  return StringRef::npos;
}

/// The parts of `text` between the `separator`s that stand in no bracket.
static SmallVector<StringRef> splitOutside(StringRef text, char separator) {
  SmallVector<StringRef> parts;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (StringRef("([{<").contains(text[i])) {
      size_t end = closing(text, i);
      if (end == StringRef::npos)
        break;
      i = end - 1;
    } else if (text[i] == separator) {
      parts.push_back(text.slice(begin, i));
      begin = i + 1;
    }
  }
  parts.push_back(text.substr(begin));
  return parts;
}

/// `%a : T, %b : U` -> `%a, %b : T, U`; nothing when the text is not of that kind.
static std::optional<std::string> groupTypes(StringRef list) {
  SmallVector<StringRef> entries = splitOutside(list, ',');
  if (entries.size() < 2)
    return std::nullopt;
  std::string values, types;
  for (StringRef entry : entries) {
    SmallVector<StringRef> halves = splitOutside(entry, ':');
    if (halves.size() != 2 || !halves[0].ltrim().starts_with("%"))
      return std::nullopt;
    values += (values.empty() ? "" : ",") + halves[0].rtrim().str();
    types += (types.empty() ? "" : ",") + halves[1].str();
  }
  return values + " :" + types;
}

std::string pto_mlir::pto::acceptRelaxedText(StringRef text) {
  std::string result;
  size_t copied = 0;
  StringRef op; // the last op's name
  auto flush = [&](size_t upTo) {
    result += text.slice(copied, upTo);
    copied = upTo;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        i += text[i] == '\\';
      continue;
    }
    StringRef rest = text.substr(i);
    if (rest.starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    bool word =
        isalpha(static_cast<unsigned char>(text[i])) &&
        (i == 0 || !(isalnum(static_cast<unsigned char>(text[i - 1])) || StringRef("_.%@!#$").contains(text[i - 1])));
    if (!word)
      continue;
    StringRef name =
        rest.take_while([](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; });
    size_t after = skipBlanks(text, i + name.size());
    if (name.starts_with("pto."))
      op = name;
    bool each = op == "pto.tmov" || op == "pto.tstore"; // their operands have a type each today, too
    if ((name == "ins" || name == "outs") && !each && after < text.size() && text[after] == '(') {
      size_t end = closing(text, after);
      if (end == StringRef::npos)
        break;
      if (auto grouped = groupTypes(text.slice(after + 1, end - 1))) {
        flush(after + 1);
        result += acceptRelaxedText(*grouped); // the types in it
        copied = end - 1;
        i = end - 1;
        continue;
      }
    }
    if (name == "blayout" && text.substr(after).starts_with("=")) { // no boxes are in row-major order
      size_t value = skipBlanks(text, after + 1);
      if (text.substr(value).starts_with("none_box")) {
        flush(value);
        result += "row_major";
        copied = value + StringRef("none_box").size();
        i = copied - 1;
        continue;
      }
    }
    if (name == "shape" && after < text.size() && text[after] == '=') {
      size_t open = skipBlanks(text, after + 1);
      size_t end = open < text.size() && text[open] == '[' ? closing(text, open) : StringRef::npos;
      if (end != StringRef::npos && text.substr(skipBlanks(text, end)).starts_with("strides")) {
        flush(end);
        result += ',';
        i = end - 1;
        continue;
      }
    }
    i += name.size() - 1;
  }
  flush(text.size());
  return result;
}
