// Parser of --input_shapes.
#include "pto_mlir/Frontend/ONNX/Import.h"

#include "llvm/ADT/StringExtras.h"

namespace pto_mlir::onnx {

namespace {
struct Parser {
  llvm::StringRef rest;

  bool eat(char c) {
    rest = rest.ltrim();
    return rest.consume_front(llvm::StringRef(&c, 1));
  }

  // Parses sizes up to the closing bracket, after the opening one.
  bool sizes(InputShape &shape) {
    if (eat(']'))
      return true;
    do {
      rest = rest.ltrim();
      int64_t size;
      auto isNameChar = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; };
      if (!rest.empty() && (llvm::isAlpha(rest.front()) || rest.front() == '_')) {
        shape.emplace_back(rest.take_while(isNameChar).str());
        rest = rest.drop_while(isNameChar);
        continue;
      }
      if (rest.empty() || !llvm::isDigit(rest.front()) || rest.consumeInteger(10, size) || size < 1 || size > INT32_MAX)
        return false;
      shape.emplace_back(size);
    } while (eat(','));
    return eat(']');
  }

  bool shapes(std::vector<InputShape> &result) {
    if (!eat('['))
      return false;
    if (!eat('[')) {
      result.emplace_back();
      return sizes(result.back()) && !result.back().empty();
    }
    do {
      result.emplace_back();
      if (!sizes(result.back()))
        return false;
      if (!eat(','))
        return eat(']');
    } while (eat('['));
    return false;
  }
};
} // namespace

std::optional<std::vector<InputShape>> parseShapes(llvm::StringRef text, std::string &error) {
  Parser parser{text};
  std::vector<InputShape> result;
  if (parser.shapes(result) && parser.rest.trim().empty())
    return result;
  error = ("'" + text + "' is not a list of lists of positive integers such as [[1,3,224,224]]").str();
  return std::nullopt;
}

} // namespace pto_mlir::onnx
