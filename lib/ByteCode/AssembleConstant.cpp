// Lines ".const".
#include "AssembleParts.h"
#include "NumberText.h"
#include "TensorText.h"

namespace pto_mlir::bytecode {

namespace {

class ConstantReader : LineReader {
public:
  explicit ConstantReader(AssemblerState &state) : LineReader(state) {}

  void read(Lexer &lexer) {
    auto index = lexer.integer<uint32_t>();
    if (!index || *index != module.constants.size()) {
      fail("expects constant " + std::to_string(module.constants.size()) + " here");
      return;
    }
    if (!expect(lexer, "="))
      return;
    if (lexer.eatWord("text")) {
      auto text = lexer.quoted();
      if (text)
        module.constants.push_back(TextConstant{*text});
      else
        fail("text expects a string in quotes");
    } else if (lexer.eatWord("kernel")) {
      readKernel(lexer);
    } else if (lexer.eatWord("external") || lexer.remaining().starts_with("\"")) {
      TensorConstant tensor;
      tensor.isExternal = true;
      auto name = lexer.quoted();
      if (!name) {
        fail("external expects a name in quotes");
        return;
      }
      tensor.name = *name;
      finishTensor(lexer, std::move(tensor));
    } else if (lexer.eatWord("bytes")) {
      readBytes(lexer);
    } else if (lexer.eatWord("dense")) {
      readDense(lexer);
    } else {
      readScalar(lexer);
    }
  }

private:
  void finishTensor(Lexer &lexer, TensorConstant tensor) {
    if (!expect(lexer, ":"))
      return;
    auto type = readTypeIndex(lexer);
    if (!type)
      return;
    tensor.type = *type;
    module.constants.push_back(std::move(tensor));
  }

  void readBytes(Lexer &lexer) {
    TensorConstant tensor;
    auto hex = lexer.quoted();
    bool good = hex && hex->size() % 2 == 0;
    for (size_t i = 0; good && i < hex->size(); i += 2) {
      unsigned value = 0;
      good = std::from_chars(hex->data() + i, hex->data() + i + 2, value, 16).ptr == hex->data() + i + 2;
      tensor.data.push_back(static_cast<uint8_t>(value));
    }
    if (good)
      finishTensor(lexer, std::move(tensor));
    else
      fail("bytes expects hexadecimal digits in quotes");
  }

  void readDense(Lexer &lexer) {
    if (!expect(lexer, "["))
      return;
    // The type follows the numbers, so buffer them.
    std::vector<std::string_view> numbers;
    while (auto number = lexer.number()) {
      numbers.push_back(*number);
      if (!lexer.eat(","))
        break;
    }
    if (!expect(lexer, "]") || !expect(lexer, ":"))
      return;
    auto type = readTypeIndex(lexer);
    if (!type)
      return;
    TensorConstant tensor;
    tensor.type = *type;
    for (std::string_view number : numbers)
      if (!appendElement(module.types[*type].element, number, tensor.data)) {
        fail("'" + std::string(number) + "' is not a value of type " + elementText(module.types[*type].element));
        return;
      }
    module.constants.push_back(std::move(tensor));
  }

  void readScalar(Lexer &lexer) {
    auto number = lexer.number();
    if (!number || !expect(lexer, ":")) {
      fail("expects a number, dense, bytes, external, text or kernel");
      return;
    }
    auto type = readTypeIndex(lexer);
    if (!type)
      return;
    ScalarConstant scalar;
    scalar.type = *type;
    if (module.types[*type].kind() == Kind::Float) {
      auto value = parseFloat(*number);
      if (!value)
        fail("'" + std::string(*number) + "' is not a float");
      scalar.bits = std::bit_cast<uint64_t>(value.value_or(0));
    } else {
      int64_t value = 0;
      auto [end, error] = std::from_chars(number->data(), number->data() + number->size(), value);
      if (error != std::errc() || end != number->data() + number->size())
        fail("'" + std::string(*number) + "' is not an integer");
      scalar.bits = uint64_t(value);
    }
    module.constants.push_back(scalar);
  }

  std::optional<Number> readNumber(Lexer &lexer) {
    auto text = lexer.number();
    if (text) {
      int64_t integer = 0;
      auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), integer);
      if (error == std::errc() && end == text->data() + text->size())
        return Number(integer);
      if (auto value = parseFloat(*text))
        return Number(*value);
    }
    fail("expects a number");
    return std::nullopt;
  }

  void readKernel(Lexer &lexer) {
    KernelKey key;
    auto callee = lexer.symbol();
    if (!callee) {
      fail("expects @ and the name of a kernel");
      return;
    }
    key.callee = std::move(*callee);
    if (!readTypeList(lexer, key.operands))
      return;
    if (lexer.eat("->") && !readTypeList(lexer, key.results))
      return;
    if (lexer.eat("{")) {
      do {
        auto name = lexer.quoted();
        if (!name) {
          fail("expects the name of an attribute in quotes");
          return;
        }
        AttributeValue value;
        if (!expect(lexer, "=") || !readAttribute(lexer, value))
          return;
        key.attributes.emplace_back(std::move(*name), std::move(value));
      } while (lexer.eat(","));
      if (!expect(lexer, "}"))
        return;
    }
    module.constants.push_back(std::move(key));
  }

  bool readAttribute(Lexer &lexer, AttributeValue &value) {
    if (auto text = lexer.quoted()) {
      value = *text;
      return true;
    }
    if (lexer.eat("[")) {
      std::vector<Number> list;
      if (!lexer.eat("]")) {
        do {
          auto number = readNumber(lexer);
          if (!number)
            return false;
          list.push_back(*number);
        } while (lexer.eat(","));
        if (!expect(lexer, "]"))
          return false;
      }
      value = std::move(list);
      return true;
    }
    auto number = readNumber(lexer);
    if (number)
      std::visit([&](auto plain) { value = plain; }, *number);
    return number.has_value();
  }
};

} // namespace

void readConstant(AssemblerState &state, Lexer &lexer) { ConstantReader(state).read(lexer); }

} // namespace pto_mlir::bytecode
