// Programs and functions as text.
#include "Printer.h"
#include "pto_mlir/Support/FreeName.h"
#include "pypto/core/error.h"
#include "pypto/ir/printer.h"

namespace pypto::ir {
namespace {

/// The hint as an identifier that is no keyword of Python.
std::string identifier(std::string_view hint) {
  static const std::unordered_set<std::string_view> kReserved = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",    "self"};
  std::string text;
  for (char c : hint)
    text += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  if (text.empty() || (text[0] >= '0' && text[0] <= '9'))
    text = "_" + text;
  return kReserved.contains(text) ? text + "_" : text;
}

} // namespace

const std::string &Printer::name(const Var &var) {
  auto [found, added] = namesOf.try_emplace(&var);
  if (added)
    found->second = pto_mlir::freeName(identifier(var.name_hint_),
                                       [&](const std::string &each) { return !taken.insert(each).second; });
  return found->second;
}

void Printer::symbolsOf(const std::vector<ExprPtr> &shape) {
  for (const ExprPtr &extent : shape) {
    if (auto binary = As<BinaryExpr>(extent))
      symbolsOf({binary->left_, binary->right_});
    if (auto var = As<Var>(extent); var && bound.insert(var.get()).second)
      line(name(*var) + " = " + pl + "dynamic(\"" + identifier(var->name_hint_) + "\")");
  }
}

/// Extents of parameters that are no parameters themselves.
void Printer::symbols(const Function &function) {
  for (const VarPtr &param : function.params_)
    bound.insert(param.get());
  for (const VarPtr &param : function.params_)
    if (const std::vector<ExprPtr> *shape = ShapeOf(param->type_))
      symbolsOf(*shape);
}

void Printer::header(const Function &function, bool method) {
  std::string options;
  if (function.func_type_ != FunctionType::Opaque)
    appendItem(options, "type=" + enumeration(function.func_type_));
  if (function.level_)
    appendItem(options, "level=" + enumeration(*function.level_));
  if (function.role_)
    appendItem(options, "role=" + enumeration(*function.role_));
  if (!function.attrs_.empty() && function.requires_runtime_binding_) // without a body
    appendItem(options, "attrs=" + dictionary(function.attrs_));
  line("@" + pl + "function" + (options.empty() ? "" : "(" + options + ")"));
  std::string params = method ? "self" : "";
  for (size_t i = 0; i < function.params_.size(); ++i) {
    const Var &param = *function.params_[i];
    std::string annotation = type(param.type_);
    ParamDirection direction = function.param_directions_[i];
    if (direction != ParamDirection::In)
      annotation = pl + std::string(ValueName(direction)) + "[" + annotation + "]";
    appendItem(params, name(param) + ": " + annotation);
  }
  std::string results;
  size_t known = namesOf.size();
  for (const TypePtr &result : function.return_types_)
    appendItem(results, type(result));
  if (function.return_types_.size() > 1)
    results = "tuple[" + results + "]";
  if (namesOf.size() > known) // an extent that the body computes has no name here; the types follow from the body
    results.clear();
  line("def " + identifier(function.name_) + "(" + params + ")" + (results.empty() ? "" : " -> " + results) + ":");
}

void Printer::function(const Function &function, bool method) {
  header(function, method);
  ++depth;
  if (!function.attrs_.empty() && !function.requires_runtime_binding_)
    line(pl + "func_attr(" + dictionary(function.attrs_) + ")");
  if (function.requires_runtime_binding_)
    line("...");
  else
    body(function.body_);
  --depth;
}

void Printer::program(const Program &program) {
  for (const FunctionPtr &function : program.functions_)
    symbols(*function);
  line("@" + pl + "program");
  line("class " + identifier(program.name_.empty() ? "Program" : program.name_) + ":");
  ++depth;
  if (program.functions_.empty())
    line("pass");
  bool first = true;
  for (const FunctionPtr &each : program.functions_) {
    if (!first)
      out += "\n";
    first = false;
    // A function's names are its own, but for the extents that all share.
    auto shared = namesOf;
    auto sharedTaken = taken;
    function(*each, true);
    namesOf = std::move(shared);
    taken = std::move(sharedTaken);
  }
  --depth;
}

std::string Printer::print(const NodePtr &node) {
  CHECK(node) << "nothing to print";
  std::string module(pl, 0, pl.size() - 1);
  taken = {module};
  if (auto held = As<Program>(node)) {
    line("import pypto.language as " + module + "\n");
    program(*held);
  } else if (auto held = As<Function>(node)) {
    line("import pypto.language as " + module + "\n");
    symbols(*held);
    function(*held, false);
  } else if (auto held = As<Stmt>(node)) {
    stmt(*held);
  } else if (auto held = As<Expr>(node)) {
    out = expr(held);
  } else if (auto held = As<Type>(node)) {
    out = type(held);
  } else if (auto held = As<MemRef>(node)) {
    out = memref(*held);
  } else if (auto held = As<Op>(node)) {
    out = held->name_;
  }
  return std::move(out);
}

std::string python_print(const NodePtr &node, std::string_view prefix) { return Printer(prefix).print(node); }

} // namespace pypto::ir
