#include "NumberText.h"
#include "TensorText.h"
#include "pto_mlir/ByteCode/Text.h"
#include "pto_mlir/Support/Quoted.h"

#include <algorithm>
#include <set>

namespace pto_mlir::bytecode {

namespace {

/// "@main"; names with characters outside a word are quoted.
std::string symbolText(std::string_view name) {
  auto isWord = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
           c == '$';
  };
  bool plain = !name.empty() && std::all_of(name.begin(), name.end(), isWord);
  return "@" + (plain ? std::string(name) : quoted(name));
}

std::string numberText(const Number &number) {
  return std::holds_alternative<int64_t>(number) ? std::to_string(std::get<int64_t>(number))
                                                 : floatText(std::get<double>(number));
}

std::string attributeText(const AttributeValue &value) {
  if (auto *text = std::get_if<std::string>(&value))
    return quoted(*text);
  if (auto *list = std::get_if<std::vector<Number>>(&value)) {
    std::string text = "[";
    for (size_t i = 0; i < list->size(); ++i)
      text += (i ? ", " : "") + numberText((*list)[i]);
    return text + "]";
  }
  return numberText(std::holds_alternative<int64_t>(value) ? Number(std::get<int64_t>(value))
                                                           : Number(std::get<double>(value)));
}

std::string typeName(const Module &module, uint32_t type) {
  return type < module.types.size() ? typeText(module.types[type]) : "<type " + std::to_string(type) + ">";
}

std::string typeList(const Module &module, const std::vector<uint32_t> &types) {
  std::string text = "(";
  for (size_t i = 0; i < types.size(); ++i)
    text += (i ? ", " : "") + typeName(module, types[i]);
  return text + ")";
}

std::string scalarText(const Module &module, const ScalarConstant &scalar) {
  bool isFloat = scalar.type < module.types.size() && module.types[scalar.type].kind() == Kind::Float;
  return isFloat ? floatText(std::bit_cast<double>(scalar.bits)) : std::to_string(int64_t(scalar.bits));
}

std::string constantLine(const Module &module, const Constant &constant) {
  if (auto *scalar = std::get_if<ScalarConstant>(&constant))
    return scalarText(module, *scalar) + " : " + typeName(module, scalar->type);
  if (auto *text = std::get_if<TextConstant>(&constant))
    return "text " + quoted(text->text);
  if (auto *key = std::get_if<KernelKey>(&constant))
    return "kernel " + keyText(*key);
  const auto &tensor = std::get<TensorConstant>(constant);
  if (tensor.isExternal)
    return "external " + quoted(tensor.name) + " : " + typeName(module, tensor.type);
  return tensorText(module, tensor) + " : " + typeName(module, tensor.type);
}

/// Operands as text; `withLabel` selects whether a branch target is written as a label.
std::string operandsText(const Module &module, const Instruction &insn, bool withLabel) {
  std::string text, separator = " ";
  auto operand = [&](const std::string &value) {
    text += separator + value;
    separator = ", ";
  };
  for (char letter : findOpcode(static_cast<uint8_t>(insn.opcode))->operands) {
    switch (letter) {
    case 's':
      operand(std::to_string(insn.slot));
      break;
    case 'n':
    case 'p':
      operand(std::to_string(insn.value));
      break;
    case 't':
      operand(typeName(module, insn.type));
      break;
    case 'y':
      operand(insn.typeCode == uint8_t(TypeCode::Scalar) ? "scalar" : "tensor");
      break;
    case 'c':
      operand(std::to_string(insn.index));
      break;
    case 'j':
      operand((withLabel ? "L" : "") + std::to_string(insn.index));
      break;
    case 'f':
      operand(insn.index < module.functions.size() ? symbolText(module.functions[insn.index].name)
                                                   : std::to_string(insn.index));
      break;
    case 'b':
      operand(std::to_string(insn.bytes));
      break;
    case 'k':
      operand(std::to_string(insn.kernel));
      break;
    case 'h':
      operand(std::to_string(insn.hostOp));
      break;
    case 'a':
      for (const BufferArgument &argument : insn.arguments)
        operand(std::to_string(argument.slot) + "[" + std::to_string(argument.offset) + " +" +
                std::to_string(argument.bytes) + "]");
      break;
    case 'l':
      for (uint32_t slot : insn.slots)
        operand(std::to_string(slot));
      break;
    }
  }
  return text;
}

/// A comment that shows the constant used by an instruction.
std::string remark(const Module &module, const Instruction &insn) {
  bool usesConstant = findOpcode(static_cast<uint8_t>(insn.opcode))->operands.find('c') != std::string_view::npos;
  if (!usesConstant || insn.index >= module.constants.size())
    return "";
  std::string text = constantText(module, module.constants[insn.index]);
  for (char &c : text)
    if (static_cast<unsigned char>(c) < 0x20)
      c = ' ';
  return "  // " + text;
}

void writeFunction(const Module &module, const Function &function, std::string &text) {
  text += "\n.func " + symbolText(function.name) + typeList(module, function.parameters) + " -> " +
          typeList(module, function.results) + " slots" + typeList(module, function.slots) + " {\n";
  auto code = decodeAll(function.code);
  if (!code) {
    text += "  // " + code.error() + "\n}\n";
    return;
  }
  std::set<uint32_t> targets;
  for (const Instruction &insn : *code)
    if (insn.opcode == Opcode::Goto || insn.opcode == Opcode::IfEq || insn.opcode == Opcode::IfNe)
      targets.insert(insn.index);
  auto debug = function.debug.begin();
  for (uint32_t i = 0; i < code->size(); ++i) {
    if (targets.count(i))
      text += "L" + std::to_string(i) + ":\n";
    for (; debug != function.debug.end() && debug->instruction == i; ++debug)
      text += "  .loc " + quoted(debug->location) + "\n";
    const Instruction &insn = (*code)[i];
    text += "  " + std::string(findOpcode(static_cast<uint8_t>(insn.opcode))->mnemonic) +
            operandsText(module, insn, true) + remark(module, insn) + "\n";
  }
  if (targets.count(code->size()))
    text += "L" + std::to_string(code->size()) + ":\n";
  text += "}\n";
}

} // namespace

std::string keyText(const KernelKey &key) {
  auto list = [](const std::vector<Type> &types) {
    std::string text = "(";
    for (size_t i = 0; i < types.size(); ++i)
      text += (i ? ", " : "") + typeText(types[i]);
    return text + ")";
  };
  std::string text = symbolText(key.callee) + " " + list(key.operands) + " -> " + list(key.results);
  for (size_t i = 0; i < key.attributes.size(); ++i)
    text += (i ? ", " : " {") + quoted(key.attributes[i].first) + " = " + attributeText(key.attributes[i].second);
  return text + (key.attributes.empty() ? "" : "}");
}

std::string constantText(const Module &module, const Constant &constant) {
  if (auto *scalar = std::get_if<ScalarConstant>(&constant))
    return scalarText(module, *scalar);
  if (auto *text = std::get_if<TextConstant>(&constant))
    return "'" + text->text + "'";
  if (auto *key = std::get_if<KernelKey>(&constant))
    return "'" + mangle(*key) + "'";
  return typeName(module, std::get<TensorConstant>(constant).type);
}

std::string instructionText(const Module &module, const Instruction &insn) {
  return std::string(findOpcode(static_cast<uint8_t>(insn.opcode))->mnemonic) + operandsText(module, insn, true) +
         remark(module, insn);
}

std::string disassemble(const Module &module) {
  std::string text = ".vm " + std::to_string(module.version) + "\n.target " + quoted(module.target) + ", " +
                     std::to_string(module.targetVersion) + ", " + std::to_string(module.capabilities) + "\n";
  if (!module.types.empty()) {
    text += ".types ";
    for (size_t i = 0; i < module.types.size(); ++i)
      text += (i ? ", " : "") + typeText(module.types[i]);
    text += "\n";
  }
  for (size_t i = 0; i < module.constants.size(); ++i)
    text += ".const " + std::to_string(i) + " = " + constantLine(module, module.constants[i]) + "\n";
  for (const Function &function : module.functions)
    writeFunction(module, function, text);
  return text;
}

std::string listing(const Module &module) {
  std::string consts, code;
  for (const Constant &constant : module.constants)
    consts += (consts.empty() ? "" : ", ") + constantText(module, constant);
  auto add = [&](const std::string &word) { code += (code.empty() ? "" : ", ") + word; };
  for (const Function &function : module.functions) {
    auto instructions = decodeAll(function.code);
    if (!instructions)
      return "<" + instructions.error() + ">";
    for (const Instruction &insn : *instructions) {
      const OpcodeRow *row = findOpcode(static_cast<uint8_t>(insn.opcode));
      add("<OpCode." + std::string(row->mnemonic) + ": " + std::to_string(static_cast<unsigned>(insn.opcode)) + ">");
      std::string operands = operandsText(module, insn, false);
      if (insn.opcode == Opcode::Ldc) {
        add(insn.typeCode == uint8_t(TypeCode::Scalar) ? "<TypeCode.scalar: 1>" : "<TypeCode.tensor: 2>");
        add(std::to_string(insn.index));
      } else if (!operands.empty()) {
        add(operands.substr(1));
      }
    }
  }
  return "ByteCodeModule(\nconsts=[" + consts + "],\ncode=[" + code + "],\ntarget='" + module.target +
         "',\nvariable_size=" + std::to_string(module.variableSize()) + ")";
}

} // namespace pto_mlir::bytecode
