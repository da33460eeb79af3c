#include "pto_mlir/Support/Nesting.h"

namespace pto_mlir {

std::string nestingProblem(std::string_view text) {
  size_t line = 1, open = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
    case '\n':
      ++line;
      break;
    case '"':
      // String literals do not span lines.
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        i += text[i] == '\\' && i + 1 < text.size() && text[i + 1] != '\n';
      i -= i < text.size() && text[i] == '\n';
      break;
    case '/':
      if (text.substr(i, 2) == "//") {
        size_t end = text.find('\n', i);
        if (end == text.npos)
          return "";
        i = end - 1;
      }
      break;
    case '(':
    case '[':
    case '{':
    case '<':
      if (++open > kMostBrackets)
        return "line " + std::to_string(line) + ": more than " + std::to_string(kMostBrackets) + " brackets are open";
      break;
    case '>':
      if (i && text[i - 1] == '-')
        break;
      [[fallthrough]];
    case ')':
    case ']':
    case '}':
      open -= open > 0;
      break;
    default:
      break;
    }
  }
  return "";
}

} // namespace pto_mlir
