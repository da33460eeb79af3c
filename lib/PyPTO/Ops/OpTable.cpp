// The rows of the table of operations, and calls seen by them.
#include "pypto/core/error.h"
#include "pypto/ir/op_registry.h"

#include <algorithm>
#include <charconv>

namespace pypto::ir {
namespace {

#include "pypto/ir/Ops.inc"

const OpRow *findRow(std::string_view name) {
  const OpRow *row = std::ranges::lower_bound(kOps, name, {}, &OpRow::name);
  return row != std::end(kOps) && row->name == name ? row : nullptr;
}

} // namespace

std::span<const OpRow> AllOps() { return kOps; }
std::span<const OpAlias> AllAliases() { return kAliases; }

const OpRow *FindOp(std::string_view name) {
  if (const OpRow *row = findRow(name))
    return row;
  for (const OpAlias &alias : kAliases)
    if (alias.alias == name)
      return findRow(alias.name);
  if (name.starts_with("block.")) // the tile namespace of the seeds
    return FindOp("tile." + std::string(name.substr(6)));
  return nullptr;
}

int OpRow::Find(std::string_view param) const {
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i].name == param)
      return static_cast<int>(i);
  return -1;
}

std::optional<Attr> OpParam::Default() const {
  if (operand || !optional || value == "None")
    return std::nullopt;
  switch (kind) {
  case ParamKind::Int: {
    int64_t number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    return number;
  }
  case ParamKind::Boolean:
    return value == "True";
  case ParamKind::String:
    return std::string(value);
  case ParamKind::DType:
    return *DataType::FromName(value);
  case ParamKind::Enum:
    return EnumValue{enumeration, *ValueFromName(enumeration, value)};
  default:
    return std::nullopt;
  }
}

OpView::OpView(const Call &call) : call_(call), row_(IsA<GlobalVar>(call.op_) ? nullptr : FindOp(call.op_->name_)) {}

ExprPtr OpView::Operand(std::string_view name) const {
  INTERNAL_CHECK(row_) << call_.op_->name_ << " is not in the table of operations";
  size_t position = 0;
  for (const OpParam &param : row_->params) {
    if (!param.operand)
      continue;
    if (param.name != name) {
      ++position;
      continue;
    }
    if (position >= call_.args_.size())
      return nullptr;
    // An operand that was left out before others is an empty tuple.
    auto tuple = As<MakeTuple>(call_.args_[position]);
    return param.optional && tuple && tuple->elements_.empty() ? nullptr : call_.args_[position];
  }
  INTERNAL_CHECK(false) << row_->name << " has no operand " << name;
  return nullptr;
}

std::vector<ExprPtr> OpView::Elements(std::string_view name) const {
  auto tuple = As<MakeTuple>(Operand(name));
  return tuple ? tuple->elements_ : std::vector<ExprPtr>();
}

std::optional<Attr> OpView::Keyword(std::string_view name) const {
  INTERNAL_CHECK(row_) << call_.op_->name_ << " is not in the table of operations";
  if (const Attr *given = FindAttr(call_.kwargs_, name))
    return *given;
  int index = row_->Find(name);
  return index < 0 ? std::nullopt : row_->params[index].Default();
}

} // namespace pypto::ir
