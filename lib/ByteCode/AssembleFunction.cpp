// Functions: ".func", labels, instructions and their operands.
#include "AssembleParts.h"

namespace pto_mlir::bytecode {

bool FunctionReader::readTypeIndexes(Lexer &lexer, std::vector<uint32_t> &types) {
  std::vector<Type> list;
  if (!readTypeList(lexer, list))
    return false;
  for (const Type &type : list)
    types.push_back(module.addType(type));
  return true;
}

void FunctionReader::begin(Lexer &lexer) {
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
  open = true;
  count = 0;
  labels.clear();
  code.clear();
}

void FunctionReader::readLine(Lexer &lexer) {
  if (lexer.eat("}")) {
    finish();
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
  readOperands(lexer, entry);
  if (!failure.empty())
    return;
  ++count;
  code.push_back(std::move(entry));
}

void FunctionReader::readOperands(Lexer &lexer, Line &entry) {
  bool isFirst = true;
  visitOperands(entry.insn, [&](auto kind, auto &field) {
    constexpr bool isList = !std::is_integral_v<std::remove_reference_t<decltype(field)>>;
    if (!failure.empty() || (!isList && !isFirst && !expect(lexer, ",")))
      return;
    if constexpr (isList)
      readList(lexer, isFirst, field);
    else if constexpr (kind == OperandKind::Target)
      readLabel(lexer, entry);
    else
      readOperand(kind, lexer, field);
    isFirst = false;
  });
}

void FunctionReader::readOperand(Operand<OperandKind::Number>, Lexer &lexer, int64_t &field) {
  uint32_t value = 0;
  readInteger(lexer, value);
  field = value;
}

void FunctionReader::readOperand(Operand<OperandKind::Type>, Lexer &lexer, uint32_t &type) {
  type = readTypeIndex(lexer).value_or(0);
}

void FunctionReader::readOperand(Operand<OperandKind::ConstantKind>, Lexer &lexer, uint8_t &code) {
  auto word = lexer.word();
  if (word == "scalar")
    code = uint8_t(TypeCode::Scalar);
  else if (word == "tensor")
    code = uint8_t(TypeCode::Tensor);
  else
    fail("expects 'scalar' or 'tensor'");
}

void FunctionReader::readOperand(Operand<OperandKind::Function>, Lexer &lexer, uint32_t &index) {
  std::string name = lexer.symbol().value_or("");
  auto it = functionIndex.find(name);
  if (it == functionIndex.end())
    fail("no function is named '@" + name + "'");
  else
    index = it->second;
}

/// The label is resolved at the end of the function.
void FunctionReader::readLabel(Lexer &lexer, Line &entry) {
  entry.target = std::string(lexer.word().value_or(""));
  if (entry.target.empty())
    fail("expects a label");
}

void FunctionReader::readElement(Lexer &lexer, uint32_t &slot) { readInteger(lexer, slot); }

void FunctionReader::readElement(Lexer &lexer, BufferArgument &argument) {
  readInteger(lexer, argument.slot);
  if (!failure.empty() || !expect(lexer, "["))
    return;
  readInteger(lexer, argument.offset);
  if (!failure.empty() || !lexer.eat("+")) {
    fail("expects +BYTES");
    return;
  }
  readInteger(lexer, argument.bytes);
  if (failure.empty())
    expect(lexer, "]");
}

/// scalars(12*s0*s1 + 1, s0), behind the other operands without a comma.
void FunctionReader::readList(Lexer &lexer, bool, std::vector<Size> &sizes) {
  if (!lexer.eatWord("scalars") || !lexer.eat("(")) {
    fail("expects scalars(..)");
    return;
  }
  if (lexer.eat(")"))
    return;
  do
    readSize(lexer, sizes.emplace_back());
  while (failure.empty() && lexer.eat(","));
  if (failure.empty())
    expect(lexer, ")");
}

void FunctionReader::readSize(Lexer &lexer, Size &size) {
  if (lexer.eatWord("empty"))
    return;
  do {
    SizeTerm &term = size.terms.emplace_back();
    bool isNumber = !lexer.remaining().starts_with("s");
    term.coefficient = 1;
    if (isNumber)
      readInteger(lexer, term.coefficient);
    while (failure.empty() && (!isNumber || lexer.eat("*"))) {
      isNumber = true;
      if (lexer.eat("s"))
        readInteger(lexer, term.symbols.emplace_back());
      else
        fail("expects a symbol such as s0");
    }
  } while (failure.empty() && lexer.eat("+"));
}

void FunctionReader::finish() {
  open = false;
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

} // namespace pto_mlir::bytecode
