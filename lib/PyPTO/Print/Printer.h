// The printer's state: names in use, indentation, the text so far.
#ifndef LIB_PYPTO_PRINT_PRINTER_H
#define LIB_PYPTO_PRINT_PRINTER_H

#include "pypto/ir/op_registry.h"
#include "pypto/ir/program.h"

#include <unordered_map>
#include <unordered_set>

namespace pypto::ir {

/// The task that a scope notes; null for other statements.
VarPtr taskOf(const Stmt &stmt);

class Printer {
public:
  explicit Printer(std::string_view prefix) : pl(std::string(prefix) + ".") {}

  std::string print(const NodePtr &node);

private:
  // Print.cpp
  void program(const Program &program);
  void function(const Function &function, bool method);
  void header(const Function &function, bool method);
  void symbols(const Function &function);
  void symbolsOf(const std::vector<ExprPtr> &shape);
  void line(std::string_view text) { out += std::string(4 * size_t(depth), ' ') + std::string(text) + "\n"; }
  const std::string &name(const Var &var);

  // PrintStmt.cpp
  void stmt(const Stmt &stmt);
  void body(const StmtPtr &body, const std::vector<VarPtr> &results = {});
  void body(const std::vector<StmtPtr> &stmts, const std::vector<VarPtr> &results);
  void yield(const YieldStmt &stmt, const std::vector<VarPtr> &results);
  void assign(const AssignStmt &stmt);
  void conditional(const IfStmt &stmt);
  std::string bounds(const ForStmt &stmt);
  void loop(const ForStmt &stmt);
  void loop(const WhileStmt &stmt);
  void scope(const ScopeStmt &stmt);
  std::string optimizations(const InCoreScopeStmt &kernel);
  template <class T> std::string names(const std::vector<std::shared_ptr<const T>> &vars);
  std::string initValues(const std::vector<IterArgPtr> &carried);

  // PrintExpr.cpp
  std::string expr(const ExprPtr &expr, int strength = 0);
  std::string binary(const BinaryExpr &expr, int strength);
  std::string unary(const UnaryExpr &expr, int strength);
  std::string call(const Call &call);
  bool isAsDeclared(const Call &call) const;
  std::string operands(const Call &call);
  std::string list(const std::vector<ExprPtr> &elements);
  struct AttrText;
  std::string attr(const Attr &value);
  std::string keywords(const Attrs &attrs);
  std::string dictionary(const Attrs &attrs);
  std::string dtype(DataType type) { return pl + std::string(type.Name()); }
  std::string enumeration(EnumValue value);
  template <class E> std::string enumeration(E value) { return enumeration(AsEnumValue(value)); }

  // PrintType.cpp
  std::string type(const TypePtr &type);
  std::string memref(const MemRef &memref);
  std::string extents(const std::vector<ExprPtr> &extents);
  std::string view(const TileView &view);
  std::string view(const TensorView &view);

  std::string pl;
  std::string out;
  int depth = 0;
  TypePtr declared;       ///< of the variable that gets the value
  bool saysTypes = false; ///< integers in computed extents say their type
  std::unordered_map<const Var *, std::string> namesOf;
  std::unordered_set<std::string> taken;
  std::unordered_set<const Var *> bound; // parameters, and extents that have their line
};

/// Adds `item` to a list in the making.
inline void appendItem(std::string &list, std::string_view item, std::string_view separator = ", ") {
  if (!list.empty())
    list += separator;
  list += item;
}

} // namespace pypto::ir

#endif // LIB_PYPTO_PRINT_PRINTER_H
