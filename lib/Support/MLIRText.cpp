#include "pto_mlir/Support/MLIRText.h"

#include "pto_mlir/Support/Nesting.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pto_mlir {
namespace {

bool isWordChar(char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$'; }

/// Follows the scopes of values through the tokens of a text.
class ForwardUses {
public:
  explicit ForwardUses(std::string_view text) : text(text) {}

  std::string find() {
    while (problem.empty() && next())
      step();
    return problem;
  }

private:
  struct Scope {
    std::unordered_set<std::string_view> defined;
    std::unordered_map<std::string_view, size_t> waiting; ///< used and not defined yet: the line
  };
  struct Group { ///< of parentheses
    bool isFunction = false, isBlock = false;
    std::vector<std::string_view> names;
  };

  /// Reads the next token: a word with its sigil, a string, or one character.
  bool next() {
    before = token;
    for (; at < text.size(); ++at) {
      if (text.substr(at, 2) == "//")
        at = std::min(text.find('\n', at), text.size()) - 1;
      else if (text[at] == '\n')
        ++line;
      else if (!isspace(static_cast<unsigned char>(text[at])))
        break;
    }
    if (at >= text.size())
      return false;
    size_t begin = at++;
    char first = text[begin];
    if (first == '"')
      skipString();
    else if (isWordChar(first) || first == '%' || first == '@' || first == '^' || first == '#' || first == '!')
      while (at < text.size() && (isWordChar(text[at]) || (first == '%' && text[at] == '-')))
        ++at;
    token = text.substr(begin, at - begin);
    return true;
  }

  /// Behind the string that has begun; strings do not span lines.
  void skipString() {
    while (at < text.size() && text[at] != '\n' && text[at] != '"')
      at = std::min(at + 1 + (text[at] == '\\'), text.size());
    at += at < text.size() && text[at] == '"';
  }

  /// The first characters behind the token, and behind the count of results in `%x:2`.
  std::string_view ahead() const {
    size_t i = at;
    auto skipSpace = [&] {
      while (i < text.size() && isspace(static_cast<unsigned char>(text[i])))
        ++i;
    };
    if (i + 1 < text.size() && text[i] == ':' && isdigit(static_cast<unsigned char>(text[i + 1])))
      for (++i; i < text.size() && isdigit(static_cast<unsigned char>(text[i]));)
        ++i;
    skipSpace();
    return text.substr(std::min(i, text.size()), 2);
  }

  void step() {
    switch (token.front()) {
    case '%':
      return value();
    case '(':
      groups.push_back({isFunction, before.starts_with('^'), {}});
      break;
    case ')':
      closeGroup();
      break;
    case '{':
      scopes.emplace_back();
      if (before != "attributes" && groups.size() == groupsOf.back())
        scopes.back().defined.swap(inner);
      groupsOf.push_back(groups.size());
      break;
    case '}':
      if (scopes.size() > 1) {
        scopes.pop_back();
        groups.resize(std::min(groups.size(), groupsOf.back()));
        groupsOf.pop_back();
      }
      break;
    default:
      break;
    }
    isFunction = token.starts_with('@') && (before.ends_with("func") || hasVisibility);
    hasVisibility = before.ends_with("func"); // func.func private @name
  }

  /// Names of the arguments of a region are no uses: `(%i, %j) = `, `(%i) in`, `(%x: f32) {`.
  void closeGroup() {
    if (groups.empty() || groups.size() == groupsOf.back())
      return;
    std::string_view behind = ahead();
    if (behind == "in" || behind.starts_with('=') || behind.starts_with('{'))
      for (std::string_view name : groups.back().names)
        scopes.back().waiting.erase(name);
    groups.pop_back();
  }

  void value() {
    std::string_view behind = ahead();
    bool isInGroup = groups.size() > groupsOf.back();
    if (behind.starts_with('=') && behind != "==")
      return define(isInGroup || before.ends_with("for"));
    if (isInGroup && behind.starts_with(':') && (groups.back().isFunction || groups.back().isBlock))
      return define(groups.back().isFunction);
    for (const Scope &scope : scopes)
      if (scope.defined.contains(token))
        return;
    if (inner.contains(token))
      return report(line);
    scopes.back().waiting.try_emplace(token, line);
    if (isInGroup)
      groups.back().names.push_back(token);
  }

  /// A definition here, or (`isInner`) in the region that follows.
  void define(bool isInner) {
    for (size_t i = 0; i + !isInner < scopes.size(); ++i)
      if (auto use = scopes[i].waiting.find(token); use != scopes[i].waiting.end())
        return report(use->second);
    (isInner ? inner : scopes.back().defined).insert(token);
    if (!isInner)
      scopes.back().waiting.erase(token);
  }

  void report(size_t lineOfUse) {
    problem = "line " + std::to_string(lineOfUse) + ": '" + std::string(token) +
              "' is used before the region that defines it";
  }

  std::string_view text, token, before;
  size_t at = 0, line = 1;
  std::vector<Scope> scopes{1};
  std::vector<Group> groups;
  std::vector<size_t> groupsOf{0};                ///< by scope: how many were open where it began
  std::unordered_set<std::string_view> inner;     ///< defined in the region that follows
  bool isFunction = false, hasVisibility = false; ///< of the token: names a function; stands behind its keyword
  std::string problem;
};

} // namespace

std::string forwardUseProblem(std::string_view text) { return ForwardUses(text).find(); }

std::string textProblem(std::string_view text) {
  std::string nesting = nestingProblem(text);
  return nesting.empty() ? forwardUseProblem(text) : nesting;
}

} // namespace pto_mlir
