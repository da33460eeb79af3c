// Which kind of core has each value of a kernel that needs both.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_COREHOMES_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_COREHOMES_H

#include "Accumulators.h"

#include "pypto/ir/op_registry.h"

#include <optional>

namespace pto_mlir::pypto_frontend {

/// Where a value is: numbers that follow from arguments, and tensors in global memory, are there for both.
enum class Home : uint8_t { Both, Cube, Vector };

/// A body in which each operation on tensors and tiles is a statement of its own.
pypto::ir::StmtPtr withNamedOperations(const pypto::ir::StmtPtr &body);

bool isProductName(const std::string &op);

/// The homes of the variables of a body, and of its statements.
class CoreHomes {
public:
  /// Throws with the place where one kind of core decides what the other one does, or a statement has no home.
  explicit CoreHomes(const pypto::ir::StmtPtr &body);

  Home of(const pypto::ir::Var *var) const;
  /// The home of what a statement computes, of its condition or of its bounds.
  Home of(const pypto::ir::Stmt *stmt) const;
  /// Whether the statements below compute something on this kind of core.
  bool uses(const pypto::ir::StmtPtr &stmt, Home home) const;
  /// The tensor that a tensor in global memory is, or is a part of.
  const pypto::ir::Var *rootOf(const pypto::ir::Var *var) const;
  pypto::ir::VarPtr rootVar(const pypto::ir::VarPtr &var) const;
  /// Whether this kind of core writes the tensor of which `var` is a part.
  bool writes(Home home, const pypto::ir::Var *var) const;
  /// Values that the other kind of core reads.
  bool crosses(const pypto::ir::Var *var) const { return crossing.count(var) != 0; }
  bool isMixed() const { return hasCube && hasVector; }
  bool hasRegions() const { return regions; }

private:
  void body(const pypto::ir::StmtPtr &stmt, std::vector<pypto::ir::ExprPtr> *yields);
  void statement(const pypto::ir::StmtPtr &stmt);
  void assign(const pypto::ir::AssignStmt &stmt);
  Home call(const pypto::ir::Call &call, const pypto::ir::Var *var);
  Home written(const pypto::ir::Call &call, const pypto::ir::VarPtr &target);
  template <class Loop> void loop(const Loop &stmt, Home control);
  void branch(const pypto::ir::IfStmt &stmt);
  Home numbers(const pypto::ir::ExprPtr &expr);
  void reads(const pypto::ir::ExprPtr &expr, Home home);
  void settle(const pypto::ir::VarPtr &var, Home home) { homes[var.get()] = home; }
  void checkMemory(const pypto::ir::StmtPtr &body) const;
  /// What keeps the kernel from being divided: an error only where it needs both kinds of core.
  void cannot(const pypto::ir::Span &span, std::string text);

  std::optional<std::pair<pypto::ir::Span, std::string>> problem;

  Accumulators accumulators;
  std::map<const pypto::ir::Var *, Home> homes;
  std::map<const pypto::ir::Stmt *, Home> places;
  std::map<const pypto::ir::Var *, pypto::ir::VarPtr> parts; ///< tensors in global memory by what they are of
  std::set<const pypto::ir::Var *> crossing, readByVector;
  std::set<std::pair<Home, const pypto::ir::Var *>> writers, readers;
  bool hasCube = false, hasVector = false, regions = false, inRegion = false;
};

} // namespace pto_mlir::pypto_frontend

#endif
