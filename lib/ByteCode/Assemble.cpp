// The text of VM programs, line by line. Constants and functions are read in files of their own.
#include "AssembleParts.h"
#include "pto_mlir/ByteCode/Text.h"

namespace pto_mlir::bytecode {

namespace {

class Assembler : LineReader {
public:
  explicit Assembler(AssemblerState &state) : LineReader(state), state(state), functions(state) {}

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
    if (failure.empty() && functions.isOpen())
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
    if (functions.isOpen())
      functions.readLine(lexer);
    else if (lexer.eatWord(".vm"))
      readVersion(lexer);
    else if (lexer.eatWord(".target"))
      readTarget(lexer);
    else if (lexer.eatWord(".types"))
      readTypes(lexer);
    else if (lexer.eatWord(".const"))
      readConstant(state, lexer);
    else if (lexer.eatWord(".func"))
      functions.begin(lexer);
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

  void readTypes(Lexer &lexer) {
    do {
      auto type = readType(lexer);
      if (!type)
        return;
      module.types.push_back(*type);
    } while (lexer.eat(","));
  }

  AssemblerState &state;
  FunctionReader functions;
  bool versionSeen = false, capabilitiesSeen = false;
};

} // namespace

Result<Module> assemble(std::string_view text) {
  AssemblerState state;
  return Assembler(state).run(text);
}

} // namespace pto_mlir::bytecode
