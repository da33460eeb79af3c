// Calls by the rows of the table: arguments of any generation to parameters.
#include "Deduce.h"

#include "pypto/core/error.h"

#include <algorithm>
#include <cmath>

namespace pypto::ir {
namespace {

TypePtr typeOf(const Attr &value) {
  const ExprPtr *expr = std::get_if<ExprPtr>(&value);
  return expr ? (*expr)->type_ : nullptr;
}

bool isScalar(const Attr &value) {
  return !std::holds_alternative<ExprPtr>(value) ? value.index() <= 2 /* bool, int64_t, double */
                                                 : IsA<ScalarType>(typeOf(value));
}

bool isTuple(const Attr &value) {
  return std::holds_alternative<std::vector<int64_t>>(value) || std::holds_alternative<std::vector<ExprPtr>>(value) ||
         IsA<TupleType>(typeOf(value));
}

bool isTensor(const Attr &value) { return IsA<TensorType>(typeOf(value)); }

ExprPtr constant(int64_t value) { return Constant(value); }

std::vector<ExprPtr> asElements(const std::vector<int64_t> &values) {
  std::vector<ExprPtr> elements;
  elements.reserve(values.size());
  for (int64_t value : values)
    elements.push_back(constant(value));
  return elements;
}

ExprPtr asExpr(const Attr &value, const Span &span) {
  if (auto *expr = std::get_if<ExprPtr>(&value))
    return *expr;
  if (auto *number = std::get_if<int64_t>(&value))
    return std::make_shared<const ConstInt>(*number, kDefaultInt, span);
  if (auto *number = std::get_if<double>(&value))
    return std::make_shared<const ConstFloat>(*number, kDefaultFloat, span);
  if (auto *truth = std::get_if<bool>(&value))
    return std::make_shared<const ConstBool>(*truth, span);
  if (auto *numbers = std::get_if<std::vector<int64_t>>(&value))
    return std::make_shared<const MakeTuple>(asElements(*numbers), span);
  if (auto *elements = std::get_if<std::vector<ExprPtr>>(&value))
    return std::make_shared<const MakeTuple>(*elements, span);
  return nullptr;
}

ExprPtr tupleOf(std::initializer_list<Attr> values, const Span &span) {
  std::vector<ExprPtr> elements;
  for (const Attr &value : values)
    elements.push_back(asExpr(value, span));
  return std::make_shared<const MakeTuple>(std::move(elements), span);
}

/// The row of `name` for these arguments, whatever its generation; null where there is none.
const OpRow *chooseRow(std::string_view name, const Attrs &arguments) {
  auto positional = [&](size_t i) { return i < arguments.size() && arguments[i].first.empty(); };
  if (name == "block.sum" || name == "tile.sum") {
    const Attr *axis = FindAttr(arguments, "axis");
    if (!axis && positional(1))
      axis = &arguments[1].second;
    const int64_t *value = axis ? std::get_if<int64_t>(axis) : nullptr;
    CHECK(value && (*value == 0 || *value == 1)) << name << " needs a constant axis, 0 or 1";
    return FindOp(*value == 0 ? "tile.col_sum" : "tile.row_sum");
  }
  const OpRow *row = FindOp(name);
  if (!row && (name.starts_with("pl.") || name.find('.') == name.npos)) {
    std::string base(name.substr(name.starts_with("pl.") ? 3 : 0));
    const OpRow *tile = FindOp("tile." + base), *tensor = FindOp("tensor." + base);
    bool onTensor = !arguments.empty() && isTensor(arguments[0].second);
    row = tensor && (onTensor || !tile) ? tensor : tile;
  }
  if (!row)
    return nullptr;
  std::string space(row->name.substr(0, row->name.find('.') + 1));
  if (row->name == "tile.add" && positional(2))
    return FindOp("tile.addc"); // the three-operand add of the seeds
  if (!row->scalar.empty() && positional(1) && isScalar(arguments[1].second))
    return FindOp(space + std::string(row->scalar));
  return row;
}

/// The flat and the reordered argument lists of earlier generations as today's.
void modernize(const OpRow &row, Attrs &arguments, const Span &span) {
  auto at = [&](size_t i) -> const Attr & { return arguments[i].second; };
  size_t count = 0;
  while (count < arguments.size() && arguments[count].first.empty())
    ++count;
  if (row.name == "tile.load" && count == 5 && isScalar(at(1))) {
    Attr offsets = tupleOf({at(1), at(2)}, span), shapes = tupleOf({at(3), at(4)}, span);
    arguments.erase(arguments.begin() + 3, arguments.begin() + 5);
    arguments[1].second = std::move(offsets);
    arguments[2].second = std::move(shapes);
  }
  bool onElement = row.name.ends_with(".read") || row.name.ends_with(".write");
  if (onElement && count >= 2 && isScalar(at(1)))
    arguments[1].second = tupleOf({at(1)}, span);
  if (row.name != "tile.store")
    return;
  if (count == 6 && isScalar(at(1))) {
    Attr offsets = tupleOf({at(1), at(2)}, span), shapes = tupleOf({at(3), at(4)}, span), out = at(5);
    arguments.erase(arguments.begin() + 4, arguments.begin() + 6);
    arguments[1].second = std::move(offsets);
    arguments[2].second = std::move(out);
    arguments[3].second = std::move(shapes);
  } else if (count >= 4 && isTuple(at(2)) && isTensor(at(3))) {
    std::swap(arguments[2].second, arguments[3].second);
  }
}

/// What programs call a parameter beside its name in the row: {theirs, ours}.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"input", "x"},
    {"tile", "x"},
    {"tensor", "x"},
    {"value", "x"},
    {"data", "x"},
    {"src", "x"},
    {"dst", "x"},
    {"lhs", "x"},
    {"rhs", "row_vec"},
    {"rhs", "col_vec"},
    {"lhs", "target"},
    {"lhs", "a"},
    {"rhs", "b"},
    {"rhs2", "c"},
    {"src0", "a"},
    {"src1", "b"},
    {"src0", "lhs"},
    {"src1", "rhs"},
    {"output_tensor", "out"},
    {"index_row", "row"},
    {"index_col", "col"},
    {"valid_rows", "rows"},
    {"valid_cols", "cols"},
    {"counter0", "c0"},
    {"counter1", "c1"},
    {"counter2", "c2"},
    {"counter3", "c3"},
    {"offset", "indices"},
    {"offset", "byte_offsets"},
    {"indices", "idx"},
    {"indexes", "idx"},
    {"acc", "dst"},
    {"tensor", "target"},
    {"valid_shapes", "valid_shape"},
};

/// The parameter that an argument names, by the row's name or another one; -1 where there is none.
int findParameter(const OpRow &row, std::string_view name) {
  if (int index = row.Find(name); index >= 0)
    return index;
  for (auto [theirs, ours] : kOtherNames)
    if (int index = theirs == name ? row.Find(ours) : -1; index >= 0)
      return index;
  return -1;
}

class Binder {
public:
  Binder(const OpRow &row, Span span) : row(row), span(std::move(span)), given(row.params.size()) {}

  void place(const Attrs &arguments);
  CallPtr call();

private:
  ExprPtr operand(const OpParam &param, const Attr &value) const;
  ExprPtr scalar(const OpParam &param, ExprPtr value) const;
  Attr keyword(const OpParam &param, const Attr &value) const;
  std::optional<DataType> elementType() const;
  void require(bool condition, const OpParam &param, std::string_view what) const {
    CHECK_AS(TypeError, condition) << row.name << ": " << param.name << " must be " << what;
  }

  const OpRow &row;
  Span span;
  std::vector<std::optional<Attr>> given;
};

void Binder::place(const Attrs &arguments) {
  auto names = [&] {
    std::string text;
    for (const OpParam &param : row.params)
      text += (text.empty() ? "" : ", ") + std::string(param.name) + (param.optional ? "=" : "");
    return text;
  };
  size_t position = 0;
  for (const auto &[name, value] : arguments) {
    int index = name.empty() ? int(position++) : findParameter(row, name);
    CHECK_AS(TypeError, size_t(index) < row.params.size() || !name.empty())
        << row.name << " takes at most " << row.params.size() << " arguments; they are " << names();
    CHECK_AS(TypeError, index >= 0) << row.name << " has no argument " << name << "; it takes " << names();
    CHECK_AS(TypeError, !given[index]) << row.name << ": " << row.params[index].name << " is given twice";
    if (!std::holds_alternative<std::monostate>(value) || !row.params[index].optional) // None: left out
      given[index] = value;
  }
  for (size_t i = 0; i < given.size(); ++i)
    CHECK_AS(TypeError, given[i] || row.params[i].optional)
        << row.name << " needs its " << row.params[i].name << "; it takes " << names();
}

/// What constants among the scalars become: the elements of the first tile or tensor, or of the result.
std::optional<DataType> Binder::elementType() const {
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] && ShapeOf(typeOf(*given[i])) && row.params[i].name != "mask")
      return ElementTypeOf(typeOf(*given[i]));
  int index = row.Find("dtype");
  if (index < 0)
    return std::nullopt;
  std::optional<Attr> value = given[index] ? given[index] : row.params[index].Default();
  return value && std::holds_alternative<DataType>(*value) ? std::optional(std::get<DataType>(*value)) : std::nullopt;
}

/// A negative number beside an unsigned type, modulo its range, if the signed type of that width holds it.
static int64_t Wrapped(int64_t value, DataType dtype) {
  int64_t bits = dtype.GetBit();
  bool wraps = dtype.IsInt() && !dtype.IsSigned() && bits < 64 && value < 0 && value >= -(int64_t(1) << (bits - 1));
  return wraps ? value + (int64_t(1) << bits) : value;
}

ExprPtr Binder::scalar(const OpParam &param, ExprPtr value) const {
  auto wanted = elementType();
  if (!wanted)
    return value;
  auto integer = As<ConstInt>(value);
  auto real = As<ConstFloat>(value);
  if (wanted->IsFloat() && integer)
    return std::make_shared<const ConstFloat>(double(integer->value_), *wanted, integer->span_);
  if (wanted->IsFloat() && real)
    return real->dtype_ == *wanted ? value : std::make_shared<const ConstFloat>(real->value_, *wanted, real->span_);
  if (integer)
    return integer->dtype_ == *wanted
               ? value
               : std::make_shared<const ConstInt>(Wrapped(integer->value_, *wanted), *wanted, integer->span_);
  if (real && wanted->IsInt() && std::trunc(real->value_) == real->value_ && std::fabs(real->value_) < 0x1p53)
    return std::make_shared<const ConstInt>(Wrapped(int64_t(real->value_), *wanted), *wanted,
                                            real->span_); // a whole number
  DataType dtype = *ElementTypeOf(value->type_);
  CHECK_AS(TypeError, dtype.IsFloat() == wanted->IsFloat())
      << row.name << ": " << param.name << " is " << dtype.Name() << " beside " << wanted->Name()
      << "; cast it, as in `pl.cast(.., pl." << wanted->Name() << ")`";
  return value;
}

ExprPtr Binder::operand(const OpParam &param, const Attr &value) const {
  ExprPtr expr = asExpr(value, span);
  CHECK_AS(TypeError, expr) << row.name << ": " << param.name << " must be an operand";
  const TypePtr &type = expr->type_;
  bool tensors = row.name.starts_with("tensor.");
  switch (param.kind) {
  case ParamKind::Data:
    // A product reads factors in L1 as they are: pl.create_l1 and pl.gather_row make such tiles beside tensors.
    if (auto tile = As<TileType>(type);
        tensors && tile && tile->GetMemorySpace() == MemorySpace::Mat && row.name.starts_with("tensor.matmul"))
      return expr;
    require(tensors ? IsA<TensorType>(type) : IsA<TileType>(type), param,
            tensors                 ? "a tensor"
            : IsA<TensorType>(type) ? "a tile; load it with `pl.load`"
                                    : "a tile");
    return expr;
  case ParamKind::Tensor:
    require(IsA<TensorType>(type), param, "a tensor");
    return expr;
  case ParamKind::Scalar:
    require(IsA<ScalarType>(type), param, "a scalar");
    return scalar(param, std::move(expr));
  case ParamKind::Index:
    require(IsA<ScalarType>(type) && ElementTypeOf(type)->IsInt(), param, "an integer");
    return expr;
  case ParamKind::Bool:
    require(IsA<ScalarType>(type) && ElementTypeOf(type) == DataType::BOOL, param, "a BOOL");
    return expr;
  case ParamKind::Tuple:
    require(IsA<MakeTuple>(expr), param, "a list of integers");
    for (const ExprPtr &element : static_cast<const MakeTuple &>(*expr).elements_)
      require(IsA<ScalarType>(element->type_) && ElementTypeOf(element->type_)->IsInt(), param, "a list of integers");
    return expr;
  case ParamKind::Array:
    require(IsA<ArrayType>(type), param, "an array");
    return expr;
  default:
    return expr;
  }
}

Attr Binder::keyword(const OpParam &param, const Attr &value) const {
  // Constants of the program are values.
  if (auto *expr = std::get_if<ExprPtr>(&value)) {
    if (auto integer = As<ConstInt>(*expr))
      return keyword(param, integer->value_);
    if (auto real = As<ConstFloat>(*expr))
      return keyword(param, real->value_);
    if (auto truth = As<ConstBool>(*expr))
      return keyword(param, truth->value_);
  }
  if (param.name == "mode" && row.pto == "tcvt") {
    static constexpr std::string_view modes[] = {"none", "rint", "round", "floor", "ceil", "trunc", "odd"};
    auto *number = std::get_if<int64_t>(&value);
    auto *name = std::get_if<std::string>(&value);
    CHECK(number ? *number >= 0 && *number < int64_t(std::size(modes)) : name && std::ranges::count(modes, *name))
        << row.name << ": Invalid rounding mode "
        << (number ? std::to_string(*number)
            : name ? *name
                   : "")
        << "; it is none, rint, round, floor, ceil, trunc or odd";
    return number ? Attr(std::string(modes[*number])) : value;
  }
  switch (param.kind) {
  case ParamKind::Int:
    require(std::holds_alternative<int64_t>(value), param, "a constant integer");
    break;
  case ParamKind::Number:
    require(std::holds_alternative<int64_t>(value) || std::holds_alternative<double>(value), param, "a number");
    break;
  case ParamKind::Boolean:
    require(std::holds_alternative<bool>(value), param, "True or False");
    break;
  case ParamKind::String:
    require(std::holds_alternative<std::string>(value), param, "a string");
    break;
  case ParamKind::DType:
    require(std::holds_alternative<DataType>(value), param, "an element type");
    break;
  default: {
    auto *number = std::get_if<EnumValue>(&value);
    require(number && number->kind == param.enumeration, param, "a pl." + std::string(EnumName(param.enumeration)));
  }
  }
  return value;
}

CallPtr Binder::call() {
  std::vector<ExprPtr> operands;
  Attrs keywords;
  size_t used = 0;
  for (size_t i = 0; i < given.size(); ++i) {
    const OpParam &param = row.params[i];
    if (param.operand) {
      operands.push_back(given[i] ? operand(param, *given[i]) : tupleOf({}, span));
      used = given[i] ? operands.size() : used;
    } else if (given[i]) {
      Attr value = keyword(param, *given[i]);
      if (value != param.Default())
        keywords.emplace_back(param.name, std::move(value));
    }
  }
  operands.resize(used);
  auto op = std::make_shared<const Op>(std::string(row.name));
  Call untyped(op, std::move(operands), std::move(keywords), nullptr, span);
  TypePtr type;
  try {
    type = DeduceType(OpView(untyped));
  } catch (const TypeError &error) {
    throw TypeError(std::string(row.name) + ": " + error.what());
  } catch (const ValueError &error) {
    throw ValueError(std::string(row.name) + ": " + error.what());
  }
  return std::make_shared<const Call>(op, untyped.args_, untyped.kwargs_, std::move(type), span);
}

} // namespace

CallPtr CreateOp(std::string_view name, Attrs arguments, Span span) {
  const OpRow *row = chooseRow(name, arguments);
  CHECK(row) << "Unknown operation " << name;
  if (name == "block.sum" || name == "tile.sum") { // the axis has chosen the row
    Attr source = arguments.at(0).second;
    arguments = {{"", source}};
  }
  modernize(*row, arguments, span);
  Binder binder(*row, std::move(span));
  binder.place(arguments);
  return binder.call();
}

CallPtr CreateOp(std::string_view name, std::vector<ExprPtr> operands, Span span) {
  Attrs arguments;
  arguments.reserve(operands.size());
  for (ExprPtr &operand : operands)
    arguments.emplace_back("", std::move(operand));
  return CreateOp(name, std::move(arguments), std::move(span));
}

} // namespace pypto::ir
