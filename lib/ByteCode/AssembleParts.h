// The parts of the assembler behind Assemble.cpp.
#ifndef PTO_MLIR_LIB_BYTECODE_ASSEMBLEPARTS_H
#define PTO_MLIR_LIB_BYTECODE_ASSEMBLEPARTS_H

#include "LineReader.h"
#include "pto_mlir/ByteCode/Operands.h"

namespace pto_mlir::bytecode {

/// Reads what follows ".const" and appends the constant to the module.
void readConstant(AssemblerState &state, Lexer &lexer);

/// Reads functions line by line.
class FunctionReader : LineReader {
public:
  explicit FunctionReader(AssemblerState &state) : LineReader(state) {}

  /// Reads what follows ".func" and opens the function.
  void begin(Lexer &lexer);
  /// Whether a function has no '}' yet.
  bool isOpen() const { return open; }
  /// Reads a line of the open function.
  void readLine(Lexer &lexer);

private:
  struct Line {
    Instruction insn;
    std::string target; // the label of a branch
    unsigned line = 0;
  };

  bool readTypeIndexes(Lexer &lexer, std::vector<uint32_t> &types);
  void readOperands(Lexer &lexer, Line &entry);
  void readLabel(Lexer &lexer, Line &entry);
  void finish();

  template <class Kind, class Field> void readOperand(Kind, Lexer &lexer, Field &field) { readInteger(lexer, field); }
  void readOperand(Operand<OperandKind::Number>, Lexer &lexer, int64_t &field);
  void readOperand(Operand<OperandKind::Type>, Lexer &lexer, uint32_t &type);
  void readOperand(Operand<OperandKind::ConstantKind>, Lexer &lexer, uint8_t &code);
  void readOperand(Operand<OperandKind::Function>, Lexer &lexer, uint32_t &index);

  /// The rest of the line; a list behind other operands begins with a comma, and either may be empty.
  template <class Element> void readList(Lexer &lexer, bool isFirst, std::vector<Element> &list) {
    while (failure.empty() && (isFirst ? !lexer.atEnd() : lexer.eat(","))) {
      readElement(lexer, list.emplace_back());
      isFirst = false;
    }
  }
  void readList(Lexer &lexer, bool isFirst, std::vector<Size> &sizes);
  void readSize(Lexer &lexer, Size &size);
  void readElement(Lexer &lexer, uint32_t &slot);
  void readElement(Lexer &lexer, BufferArgument &argument);

  bool open = false;
  uint32_t count = 0; // of instructions so far
  std::vector<Line> code;
  std::unordered_map<std::string, uint32_t> labels;
};

} // namespace pto_mlir::bytecode

#endif
