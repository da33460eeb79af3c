#include "NumberText.h"
#include "TensorText.h"
#include "pto_mlir/ByteCode/Operands.h"
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

/// Appends each operand to `text`; `withLabel` selects whether a branch target is written as a label.
struct OperandPrinter {
  const Module &module;
  bool withLabel;
  std::string text, separator = " ";

  void add(const std::string &value) {
    text += separator + value;
    separator = ", ";
  }
  template <class Kind, class Field> void operator()(Kind, Field field) { add(std::to_string(field)); }
  void operator()(Operand<OperandKind::Type>, uint32_t type) { add(typeName(module, type)); }
  void operator()(Operand<OperandKind::ConstantKind>, uint8_t code) {
    add(code == uint8_t(TypeCode::Scalar) ? "scalar" : "tensor");
  }
  void operator()(Operand<OperandKind::Target>, uint32_t target) {
    add((withLabel ? "L" : "") + std::to_string(target));
  }
  void operator()(Operand<OperandKind::Function>, uint32_t function) {
    add(function < module.functions.size() ? symbolText(module.functions[function].name) : std::to_string(function));
  }
  void operator()(Operand<OperandKind::Arguments>, const std::vector<BufferArgument> &arguments) {
    for (const BufferArgument &argument : arguments)
      add(std::to_string(argument.slot) + "[" + std::to_string(argument.offset) + " +" +
          std::to_string(argument.bytes) + "]");
  }
  void operator()(Operand<OperandKind::Slots>, const std::vector<uint32_t> &slots) {
    for (uint32_t slot : slots)
      add(std::to_string(slot));
  }
  void operator()(Operand<OperandKind::Sizes>, const std::vector<Size> &sizes) { text += sizesText(sizes, {}); }
};

std::string operandsText(const Module &module, const Instruction &insn, bool withLabel) {
  OperandPrinter printer{module, withLabel};
  visitOperands(insn, printer);
  return printer.text;
}

/// A comment that shows the constant used by an instruction.
std::string remark(const Module &module, const Instruction &insn) {
  if (!opcodeRow(insn.opcode).has(OperandKind::Constant) || insn.index >= module.constants.size())
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
    if (opcodeRow(insn.opcode).has(OperandKind::Target))
      targets.insert(insn.index);
  auto debug = function.debug.begin();
  for (uint32_t i = 0; i < code->size(); ++i) {
    if (targets.count(i))
      text += "L" + std::to_string(i) + ":\n";
    for (; debug != function.debug.end() && debug->instruction == i; ++debug)
      text += "  .loc " + quoted(debug->location) + "\n";
    const Instruction &insn = (*code)[i];
    text += "  " + std::string(opcodeRow(insn.opcode).mnemonic) + operandsText(module, insn, true) +
            remark(module, insn) + "\n";
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
  return std::string(opcodeRow(insn.opcode).mnemonic) + operandsText(module, insn, true) + remark(module, insn);
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
      add("<OpCode." + std::string(opcodeRow(insn.opcode).mnemonic) + ": " +
          std::to_string(static_cast<unsigned>(insn.opcode)) + ">");
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
