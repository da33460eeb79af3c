#include "Lexer.h"
#include "NumberText.h"
#include "TensorText.h"
#include "pto_mlir/ByteCode/Text.h"

#include <algorithm>
#include <unordered_map>

namespace pto_mlir::bytecode {

namespace {

class Assembler {
public:
  Result<Module> run(std::string_view text) {
    // Calls may refer to later functions, so collect the names first.
    collectFunctions(text);
    while (failure.empty() && !text.empty()) {
      ++line;
      size_t end = text.find('\n');
      std::string_view current = text.substr(0, end);
      text = end == std::string_view::npos ? "" : text.substr(end + 1);
      Lexer lexer(current);
      if (!lexer.atEnd())
        readLine(lexer);
    }
    if (failure.empty() && inFunction)
      fail("the function has no closing '}'");
    if (failure.empty() && !versionSeen)
      fail("the text does not begin with .vm");
    if (!failure.empty())
      return Failure{"line " + std::to_string(line) + ": " + failure};
    if (!capabilitiesSeen)
      module.capabilities = module.usedCapabilities();
    return std::move(module);
  }

private:
  bool fail(const std::string &message) {
    if (failure.empty()) {
      failure = message;
      // The file may be binary.
      std::replace_if(failure.begin(), failure.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    }
    return false;
  }
  bool expect(Lexer &lexer, std::string_view symbol) {
    return lexer.eat(symbol) ||
           fail("expects '" + std::string(symbol) + "' before '" + std::string(lexer.remaining().substr(0, 20)) + "'");
  }

  void collectFunctions(std::string_view text) {
    while (!text.empty()) {
      size_t end = text.find('\n');
      Lexer lexer(text.substr(0, end));
      text = end == std::string_view::npos ? "" : text.substr(end + 1);
      if (lexer.eatWord(".func"))
        if (auto name = lexer.symbol())
          functionIndex.emplace(std::move(*name), functionIndex.size());
    }
  }

  void readLine(Lexer &lexer) {
    if (inFunction)
      readInFunction(lexer);
    else if (lexer.eatWord(".vm"))
      readVersion(lexer);
    else if (lexer.eatWord(".target"))
      readTarget(lexer);
    else if (lexer.eatWord(".types"))
      readTypes(lexer);
    else if (lexer.eatWord(".const"))
      readConstant(lexer);
    else if (lexer.eatWord(".func"))
      readFunction(lexer);
    else
      fail("expects .vm, .target, .types, .const or .func, got '" + std::string(lexer.remaining().substr(0, 20)) + "'");
    if (failure.empty() && !lexer.atEnd())
      fail("does not expect '" + std::string(lexer.remaining().substr(0, 20)) + "' here");
  }

  void readVersion(Lexer &lexer) {
    auto version = lexer.integer<uint32_t>();
    if (!version)
      fail(".vm expects a version");
    else
      module.version = *version;
    versionSeen = true;
  }

  void readTarget(Lexer &lexer) {
    auto name = lexer.quoted();
    if (!name) {
      fail(".target expects a name in quotes");
      return;
    }
    module.target = *name;
    if (!lexer.eat(","))
      return;
    auto version = lexer.integer<uint32_t>();
    if (version)
      module.targetVersion = *version;
    if (!version || !lexer.eat(",")) {
      if (!version)
        fail(".target expects a version");
      return;
    }
    auto capabilities = lexer.integer<uint32_t>();
    if (!capabilities)
      fail(".target expects capability bits");
    else
      module.capabilities = *capabilities;
    capabilitiesSeen = capabilities.has_value();
  }

  std::optional<Type> readType(Lexer &lexer) {
    std::string_view text = lexer.typeText();
    auto type = parseType(text);
    if (!type)
      fail("'" + std::string(text) +
           "' is not a type of a VM value (i1, i8, i16, i32, i64, f32, f64, tensor<2x?xf32>)");
    return type;
  }
  std::optional<uint32_t> readTypeIndex(Lexer &lexer) {
    auto type = readType(lexer);
    return type ? std::optional(module.addType(*type)) : std::nullopt;
  }

  void readTypes(Lexer &lexer) {
    do {
      auto type = readType(lexer);
      if (!type)
        return;
      module.types.push_back(*type);
    } while (lexer.eat(","));
  }

  void readConstant(Lexer &lexer) {
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

  bool readTypeList(Lexer &lexer, std::vector<Type> &types) {
    if (!expect(lexer, "("))
      return false;
    if (lexer.eat(")"))
      return true;
    do {
      auto type = readType(lexer);
      if (!type)
        return false;
      types.push_back(*type);
    } while (lexer.eat(","));
    return expect(lexer, ")");
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

  bool readTypeIndexes(Lexer &lexer, std::vector<uint32_t> &types) {
    std::vector<Type> list;
    if (!readTypeList(lexer, list))
      return false;
    for (const Type &type : list)
      types.push_back(module.addType(type));
    return true;
  }

  void readFunction(Lexer &lexer) {
    Function function;
    auto name = lexer.symbol();
    if (!name) {
      fail("expects @ and the name of a function");
      return;
    }
    function.name = std::move(*name);
    if (!readTypeIndexes(lexer, function.parameters))
      return;
    if (lexer.eat("->") && !readTypeIndexes(lexer, function.results))
      return;
    if (lexer.eatWord("slots")) {
      if (!readTypeIndexes(lexer, function.slots))
        return;
    } else {
      function.slots = function.parameters;
    }
    if (!expect(lexer, "{"))
      return;
    module.functions.push_back(std::move(function));
    inFunction = true;
    count = 0;
    labels.clear();
    code.clear();
  }

  void readInFunction(Lexer &lexer) {
    if (lexer.eat("}")) {
      finishFunction();
      return;
    }
    if (lexer.eatWord(".loc")) {
      auto location = lexer.quoted();
      if (location)
        module.functions.back().debug.push_back({count, *location});
      else
        fail(".loc expects a text in quotes");
      return;
    }
    auto word = lexer.word();
    if (!word) {
      fail("expects an instruction, a label or '}'");
      return;
    }
    if (lexer.eat(":")) {
      if (!labels.emplace(std::string(*word), count).second)
        fail("label '" + std::string(*word) + "' is there twice");
      return;
    }
    const OpcodeRow *row = findOpcode(*word);
    if (!row) {
      fail("no instruction is named '" + std::string(*word) + "'");
      return;
    }
    Line entry;
    entry.insn.opcode = row->opcode;
    entry.line = line;
    for (size_t i = 0; i < row->operands.size() && failure.empty(); ++i) {
      bool isList = row->operands[i] == 'a' || row->operands[i] == 'l';
      if (i > 0 && !isList && !expect(lexer, ","))
        return;
      readOperand(row->operands[i], lexer, entry, /*first=*/i == 0);
    }
    if (!failure.empty())
      return;
    ++count;
    code.push_back(std::move(entry));
  }

  struct Line {
    Instruction insn;
    std::string target;
    unsigned line = 0;
  };

  template <class T> void readInteger(Lexer &lexer, T &value) {
    auto number = lexer.integer<T>();
    if (number)
      value = *number;
    else
      fail("expects a number before '" + std::string(lexer.remaining().substr(0, 20)) + "'");
  }

  void readOperand(char letter, Lexer &lexer, Line &entry, bool first) {
    Instruction &insn = entry.insn;
    switch (letter) {
    case 's':
      return readInteger(lexer, insn.slot);
    case 'n':
      return readInteger(lexer, insn.value);
    case 'p': {
      uint32_t value = 0;
      readInteger(lexer, value);
      insn.value = value;
      return;
    }
    case 't':
      insn.type = readTypeIndex(lexer).value_or(0);
      return;
    case 'y': {
      auto word = lexer.word();
      if (word == "scalar")
        insn.typeCode = uint8_t(TypeCode::Scalar);
      else if (word == "tensor")
        insn.typeCode = uint8_t(TypeCode::Tensor);
      else
        fail("expects 'scalar' or 'tensor'");
      return;
    }
    case 'c':
      return readInteger(lexer, insn.index);
    case 'j':
      entry.target = std::string(lexer.word().value_or(""));
      if (entry.target.empty())
        fail("expects a label");
      return;
    case 'f': {
      std::string name = lexer.symbol().value_or("");
      auto it = functionIndex.find(name);
      if (it == functionIndex.end())
        fail("no function is named '@" + name + "'");
      else
        insn.index = it->second;
      return;
    }
    case 'b':
      return readInteger(lexer, insn.bytes);
    case 'k':
      return readInteger(lexer, insn.kernel);
    case 'h':
      return readInteger(lexer, insn.hostOp);
    case 'a':
      while (failure.empty() && (first ? !lexer.atEnd() : lexer.eat(","))) {
        BufferArgument argument;
        readInteger(lexer, argument.slot);
        if (!failure.empty() || !expect(lexer, "["))
          return;
        readInteger(lexer, argument.offset);
        std::string_view sign = lexer.remaining();
        if (!failure.empty() || !sign.starts_with("+")) {
          fail("expects +BYTES");
          return;
        }
        lexer.eat("+");
        readInteger(lexer, argument.bytes);
        if (!failure.empty() || !expect(lexer, "]"))
          return;
        insn.arguments.push_back(argument);
        first = false;
      }
      return;
    case 'l':
      while (failure.empty() && (first ? !lexer.atEnd() : lexer.eat(","))) {
        uint32_t slot = 0;
        readInteger(lexer, slot);
        insn.slots.push_back(slot);
        first = false;
      }
      return;
    }
  }

  void finishFunction() {
    inFunction = false;
    for (Line &entry : code) {
      if (!entry.target.empty()) {
        auto it = labels.find(entry.target);
        if (it == labels.end()) {
          line = entry.line;
          fail("no label is named '" + entry.target + "'");
          return;
        }
        entry.insn.index = it->second;
      }
      encode(entry.insn, module.functions.back().code);
    }
  }

  Module module;
  std::string failure;
  unsigned line = 0;
  bool versionSeen = false, capabilitiesSeen = false, inFunction = false;
  uint32_t count = 0;
  std::vector<Line> code;
  std::unordered_map<std::string, uint32_t> labels, functionIndex;
};

} // namespace

Result<Module> assemble(std::string_view text) { return Assembler().run(text); }

} // namespace pto_mlir::bytecode
