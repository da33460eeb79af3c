// Names of kinds, operators and places.
#include "pypto/ir/node.h"
#include "pypto/ir/attr.h"
#include "pypto/ir/expr.h"

namespace pypto::ir {

std::string_view KindName(NodeKind kind) {
#define PYPTO_KIND(Name, ...) #Name,
  static constexpr std::string_view kNames[] = {PYPTO_NODES(PYPTO_KIND)};
#undef PYPTO_KIND
  return kNames[static_cast<size_t>(kind)];
}

std::string_view OperatorText(NodeKind kind) {
  switch (kind) {
#define PYPTO_ROW(Name, Text, ...)                                                                                     \
  case NodeKind::Name:                                                                                                 \
    return Text;
    PYPTO_BINARY_EXPRS(PYPTO_ROW)
    PYPTO_UNARY_EXPRS(PYPTO_ROW)
#undef PYPTO_ROW
  default:
    return "";
  }
}

int OperatorStrength(NodeKind kind) {
  switch (kind) {
#define PYPTO_ROW(Name, Text, Strength)                                                                                \
  case NodeKind::Name:                                                                                                 \
    return Strength;
    PYPTO_BINARY_EXPRS(PYPTO_ROW)
    PYPTO_UNARY_EXPRS(PYPTO_ROW)
#undef PYPTO_ROW
  default:
    return 0;
  }
}

const std::string &Span::filename() const {
  static const std::string kNone;
  return filename_ ? *filename_ : kNone;
}

std::string Span::to_string() const {
  if (!is_valid())
    return "unknown";
  return *filename_ + ":" + std::to_string(begin_line_) + ":" + std::to_string(begin_column_);
}

bool operator==(const Span &a, const Span &b) {
  return a.begin_line_ == b.begin_line_ && a.begin_column_ == b.begin_column_ && a.end_line_ == b.end_line_ &&
         a.end_column_ == b.end_column_ && a.filename() == b.filename();
}

const Attr *FindAttr(const Attrs &attrs, std::string_view name) {
  for (const auto &[key, value] : attrs)
    if (key == name)
      return &value;
  return nullptr;
}

} // namespace pypto::ir
