// The table of operations (include/pypto/ir/ops/*.td), and calls by its rows.
#ifndef PYPTO_IR_OP_REGISTRY_H
#define PYPTO_IR_OP_REGISTRY_H

#include "pypto/ir/expr.h"

#include <span>

namespace pypto::ir {

/// What a parameter takes. The first group are operands of the call, the second its keywords.
enum class ParamKind : uint8_t {
  Data, ///< a tile in tile.*, a tensor in tensor.*
  Tensor,
  Scalar, ///< a constant takes the element type of the first tile or tensor
  Index,
  Bool,
  Tuple, ///< integers
  Any,
  Array,
  Int,
  Number,
  Boolean,
  String,
  DType,
  Enum
};

struct OpParam {
  std::string_view name;
  ParamKind kind;
  EnumKind enumeration; ///< of an Enum
  bool operand;
  bool optional;
  std::string_view value; ///< a keyword's default as `pl` writes it

  /// The default of a keyword; nothing where there is none.
  std::optional<Attr> Default() const;
};

/// How a call's type follows from its operands.
#include "pypto/ir/OpRules.h.inc"

struct OpRow {
  std::string_view name; ///< "tile.add"
  std::span<const OpParam> params;
  OpRule rule;
  std::string_view pto;     ///< the op of the pto dialect it becomes: "tadd"; "" for none or several
  std::string_view scalar;  ///< the operation for a scalar as second operand: "adds"
  std::string_view element; ///< element type of the result where it is not the rule's
  std::string_view like;    ///< OpRule::Like: the operand whose type it is; "" for the first
  std::string_view summary;
  bool a2a3;
  bool a5;

  /// The position in `params`, or -1.
  int Find(std::string_view param) const;
};

/// Another full name of an operation ("pl.create_tile").
struct OpAlias {
  std::string_view alias;
  std::string_view name;
};

/// All rows, and all further names, by name.
std::span<const OpRow> AllOps();
std::span<const OpAlias> AllAliases();
/// The row of a full name of any generation ("tile.add", "block.add"), or null.
const OpRow *FindOp(std::string_view name);

/// A call by its row: operands and keywords by name.
class OpView {
public:
  /// Null row for a call of a function, or of an operation that the table lacks.
  explicit OpView(const Call &call);

  const OpRow *row() const { return row_; }
  /// The operand of that name, null where it was left out. InternalError for a name that the row lacks.
  ExprPtr Operand(std::string_view name) const;
  /// The elements of a tuple operand; empty where it was left out.
  std::vector<ExprPtr> Elements(std::string_view name) const;
  /// The keyword of that name, or its default; nothing where it has none.
  std::optional<Attr> Keyword(std::string_view name) const;
  template <class T> std::optional<T> Keyword(std::string_view name) const {
    auto value = Keyword(name);
    const T *held = value ? std::get_if<T>(&*value) : nullptr;
    return held ? std::optional<T>(*held) : std::nullopt;
  }
  template <class E> std::optional<E> Enum(std::string_view name) const {
    auto value = Keyword<EnumValue>(name);
    return value && value->kind == EnumTraits<E>::kKind ? std::optional(static_cast<E>(value->value)) : std::nullopt;
  }

private:
  const Call &call_;
  const OpRow *row_;
};

/// A call with its type deduced. `name` may be of any generation; "pl.add" and "add" choose the namespace by the first
/// operand. `arguments` are operands and keywords, positional ones first and with an empty name; numbers and lists of
/// numbers are accepted as operands. Keywords that equal their default are left out of the call.
/// TypeError or ValueError says which parameter is wrong.
CallPtr CreateOp(std::string_view name, Attrs arguments, Span span);
/// The same for operands only.
CallPtr CreateOp(std::string_view name, std::vector<ExprPtr> operands, Span span);

} // namespace pypto::ir

#endif // PYPTO_IR_OP_REGISTRY_H
