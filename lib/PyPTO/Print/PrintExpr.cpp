// Expressions as text.
#include "Printer.h"
#include "pypto/ir/printer.h"

#include <charconv>
#include <cmath>

namespace pypto::ir {
namespace {

constexpr int kUnaryStrength = 11; // of a minus; a negative constant has one

std::string parenthesized(std::string text, bool needed) { return needed ? "(" + std::move(text) + ")" : text; }

std::string quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\x";
      out += kHex[c >> 4 & 15];
      out += kHex[c & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

/// The element type that a bare literal takes as a scalar operand of an operation: that of the first tile or tensor.
std::optional<DataType> literalType(const Call &call, const OpRow &row) {
  for (const ExprPtr &arg : call.args_)
    if (ShapeOf(arg->type_))
      return ElementTypeOf(arg->type_);
  const DataType *dtype = FindAttr<DataType>(call.kwargs_, "dtype");
  int index = row.Find("dtype");
  if (dtype || index < 0)
    return dtype ? std::optional(*dtype) : std::nullopt;
  auto held = row.params[index].Default();
  return held ? std::optional(std::get<DataType>(*held)) : std::nullopt;
}

} // namespace

std::string FloatText(double value) {
  if (std::isinf(value))
    return value < 0 ? "-1e999" : "1e999";
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  return text.find_first_of(".en") == text.npos ? text + ".0" : text;
}

std::string Printer::enumeration(EnumValue value) {
  return pl + std::string(EnumName(value.kind)) + "." + std::string(ValueName(value));
}

std::string Printer::list(const std::vector<ExprPtr> &elements) {
  std::string text;
  for (const ExprPtr &element : elements)
    appendItem(text, expr(element));
  return "[" + text + "]";
}

struct Printer::AttrText {
  Printer &printer;
  std::string operator()(std::monostate) { return "None"; }
  std::string operator()(bool held) { return held ? "True" : "False"; }
  std::string operator()(int64_t held) { return std::to_string(held); }
  std::string operator()(double held) { return FloatText(held); }
  std::string operator()(const std::string &held) { return quoted(held); }
  std::string operator()(DataType held) { return printer.dtype(held); }
  std::string operator()(EnumValue held) { return printer.enumeration(held); }
  std::string operator()(const ExprPtr &held) { return printer.expr(held); }
  std::string operator()(const std::vector<ExprPtr> &held) { return printer.list(held); }
  std::string operator()(const std::vector<int64_t> &held) { return each(held); }
  std::string operator()(const std::vector<EnumValue> &held) { return each(held); }
  std::string each(const auto &held) {
    std::string text;
    for (const auto &element : held)
      appendItem(text, (*this)(element));
    return "[" + text + "]";
  }
};

std::string Printer::attr(const Attr &value) { return std::visit(AttrText{*this}, value); }

std::string Printer::keywords(const Attrs &attrs) {
  std::string text;
  for (const auto &[key, value] : attrs)
    appendItem(text, key + "=" + attr(value));
  return text;
}

std::string Printer::dictionary(const Attrs &attrs) {
  std::string text;
  for (const auto &[key, value] : attrs)
    appendItem(text, quoted(key) + ": " + attr(value));
  return "{" + text + "}";
}

std::string Printer::binary(const BinaryExpr &node, int strength) {
  int own = OperatorStrength(node.kind());
  std::string symbol(OperatorText(node.kind()));
  if (own == 0)
    return pl + symbol + "(" + expr(node.left_) + ", " + expr(node.right_) + ")";
  bool comparison = node.kind() >= NodeKind::Eq && node.kind() <= NodeKind::Ge; // of which a chain means another thing
  return parenthesized(expr(node.left_, comparison ? own + 1 : own) + " " + symbol + " " + expr(node.right_, own + 1),
                       own < strength);
}

std::string Printer::unary(const UnaryExpr &node, int strength) {
  if (node.kind() == NodeKind::Cast)
    return pl + "cast(" + expr(node.operand_) + ", " + dtype(node.dtype_) + ")";
  int own = OperatorStrength(node.kind());
  std::string symbol(OperatorText(node.kind()));
  if (own == 0)
    return pl + symbol + "(" + expr(node.operand_) + ")";
  // A minus before a literal would be read as part of it.
  bool literal = IsA<ConstInt>(node.operand_) || IsA<ConstFloat>(node.operand_);
  return parenthesized(symbol + (node.kind() == NodeKind::Not ? " " : "") +
                           parenthesized(expr(node.operand_, literal ? 0 : own), literal),
                       own < strength);
}

/// Whether a tile of a queue has the extents and the element type that its variable declares, so that the call says
/// neither.
bool Printer::isAsDeclared(const Call &call) const {
  auto tile = declared ? As<TileType>(declared) : nullptr;
  auto type = As<TileType>(call.type_);
  if (!tile || !type || !call.op_->name_.starts_with("tile.tpop_from_"))
    return false;
  return tile->dtype_ == type->dtype_ && std::equal(tile->shape_.begin(), tile->shape_.end(), type->shape_.begin(),
                                                    type->shape_.end(), [](const ExprPtr &a, const ExprPtr &b) {
                                                      return ConstantInt(a) && ConstantInt(a) == ConstantInt(b);
                                                    });
}

std::string Printer::operands(const Call &call) {
  std::string text;
  OpView view(call);
  const OpRow *row = view.row();
  if (!row) {
    for (const ExprPtr &arg : call.args_)
      appendItem(text, expr(arg));
    return text;
  }
  if (isAsDeclared(call))
    return text;
  bool named = false; // after an operand that was left out, or a keyword
  for (const OpParam &param : row->params) {
    if (!param.operand) {
      named = true;
      continue;
    }
    ExprPtr operand = view.Operand(param.name);
    if (!operand) {
      named = true;
      continue;
    }
    std::string value;
    auto wanted = param.kind == ParamKind::Scalar ? literalType(call, *row) : std::nullopt;
    auto integer = As<ConstInt>(operand);
    auto real = As<ConstFloat>(operand);
    auto tuple = As<MakeTuple>(operand);
    if (wanted && real && real->dtype_ == *wanted && !std::isnan(real->value_))
      value = FloatText(real->value_);
    else if (wanted && integer && integer->dtype_ == *wanted)
      value = std::to_string(integer->value_);
    else
      value = tuple ? list(tuple->elements_) : expr(operand);
    appendItem(text, named ? std::string(param.name) + "=" + value : value);
  }
  return text;
}

std::string Printer::call(const Call &node) {
  std::string callee, arguments = operands(node);
  bool submit = node.kind() == NodeKind::Submit;
  if (IsA<GlobalVar>(node.op_))
    callee = "self." + node.op_->name_;
  else
    callee = pl + node.op_->name_;
  if (submit) {
    arguments = callee + (arguments.empty() ? "" : ", ") + arguments;
    auto &task = static_cast<const Submit &>(node);
    callee = pl + (task.core_num_ ? "spmd_submit" : "submit");
    if (!task.deps_.empty())
      appendItem(arguments, "deps=" + list(task.deps_));
    if (task.core_num_)
      appendItem(arguments, "core_num=" + expr(task.core_num_));
    if (task.sync_start_)
      appendItem(arguments, "sync_start=True");
    if (task.predicate_)
      appendItem(arguments, "predicate=(" + expr(task.predicate_) + ")");
    if (task.allow_early_resolve_)
      appendItem(arguments, "allow_early_resolve=True");
  }
  Attrs said = node.kwargs_;
  if (isAsDeclared(node))
    std::erase_if(said, [](const auto &attr) { return attr.first == "dtype"; });
  if (!said.empty())
    appendItem(arguments, keywords(said));
  if (!node.attrs_.empty())
    appendItem(arguments, "attrs=" + dictionary(node.attrs_));
  return callee + "(" + arguments + ")";
}

std::string Printer::expr(const ExprPtr &node, int strength) {
  if (auto binaryExpr = As<BinaryExpr>(node))
    return binary(*binaryExpr, strength);
  if (auto unaryExpr = As<UnaryExpr>(node))
    return unary(*unaryExpr, strength);
  switch (node->kind()) {
  case NodeKind::Var:
  case NodeKind::IterArg:
    return name(static_cast<const Var &>(*node));
  case NodeKind::ConstInt: {
    auto &constant = static_cast<const ConstInt &>(*node);
    std::string text = std::to_string(constant.value_);
    if (constant.dtype_ != kDefaultInt || saysTypes)
      return pl + "const(" + text + ", " + dtype(constant.dtype_) + ")";
    return parenthesized(text, constant.value_ < 0 && strength > kUnaryStrength);
  }
  case NodeKind::ConstFloat: {
    auto &constant = static_cast<const ConstFloat &>(*node);
    bool nan = std::isnan(constant.value_);
    std::string text = nan ? "\"nan\"" : FloatText(constant.value_);
    if (nan || constant.dtype_ != kDefaultFloat)
      return pl + "const(" + text + ", " + dtype(constant.dtype_) + ")";
    return parenthesized(text, text[0] == '-' && strength > kUnaryStrength);
  }
  case NodeKind::ConstBool:
    return static_cast<const ConstBool &>(*node).value_ ? "True" : "False";
  case NodeKind::MakeTuple: {
    auto &elements = static_cast<const MakeTuple &>(*node).elements_;
    std::string text = list(elements);
    return "(" + text.substr(1, text.size() - 2) + (elements.size() == 1 ? ",)" : ")");
  }
  case NodeKind::TupleGetItemExpr: {
    auto &item = static_cast<const TupleGetItemExpr &>(*node);
    return expr(item.tuple_, kUnaryStrength + 1) + "[" + std::to_string(item.index_) + "]";
  }
  default:
    return call(static_cast<const Call &>(*node));
  }
}

} // namespace pypto::ir
